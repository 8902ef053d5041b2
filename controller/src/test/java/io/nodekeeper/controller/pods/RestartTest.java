package io.nodekeeper.controller.pods;

import static io.nodekeeper.controller.pods.PodWorld.tolerates;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.controller.config.WorkloadConfig;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** If the controller restarts at any time, an eviction happens once, in time, and to the right pod. */
class RestartTest {

    private static PodWorld world(WorkloadConfig config) {
        PodWorld world = new PodWorld(config);
        world.addNode("n1");
        world.addPod("pod1", "n1", tolerates("k", 60));
        world.addPod("stays", "n1", tolerates("k"));
        return world;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L71")
    @Tag("W5")
    void tolerationContinuesAfterARestartUnlessItIsTheReference(boolean better) {
        PodWorld world = new PodWorld(better ? WorkloadConfig.DEFAULT : WorkloadConfig.REFERENCE);
        world.addNode("n1");
        world.addPod("pod1", "n1", tolerates("k", 300));
        world.start();
        world.advanceTo("10S");
        world.taint("n1", "k:NoExecute@10");
        world.advanceTo("210S");

        world.kill();
        world.start();
        world.advanceTo("1000S");

        assertThat(world.deletions).containsExactly(better ? "pod1-uid@311" : "pod1-uid@510");
    }

    @Test
    @Tag("L71")
    @Tag("W5")
    void killedAtAnySecondAndStartedAgainItEvictsInTime() {
        for (int second = 0; second < 90; second++) {
            PodWorld world = world(WorkloadConfig.DEFAULT);
            world.start();
            world.taint("n1", "k:NoExecute@0");
            world.advance(Duration.ofSeconds(second));
            world.kill();
            world.advance(Duration.ofSeconds(3));
            world.start();
            world.advanceTo("300S");
            int expected = second + 3 > 61 && second <= 61 ? second + 3 : 61;
            assertThat(world.deletions).as("killed at %d s", second).containsExactly("pod1-uid@" + expected);
        }
    }

    /** Kills before and after each call took effect, until there is no call left to be killed at. */
    @Test
    @Tag("L71")
    @Tag("L72")
    @Tag("W6")
    void killedAtAnyStepAndStartedAgainItEvictsOnce() {
        for (boolean before : new boolean[] {true, false}) {
            int step = 1;
            while (killedAt(step, before)) {
                step++;
            }
            assertThat(step).as("steps").isGreaterThan(4);
        }
    }

    private static boolean killedAt(int step, boolean before) {
        PodWorld world = world(WorkloadConfig.DEFAULT);
        int[] calls = {0};
        boolean[] killed = {false};
        Runnable strike = () -> {
            if (!killed[0] && calls[0] == step) {
                killed[0] = true;
                world.kill();
            }
        };
        world.fault = call -> {
            calls[0]++;
            if (before) {
                strike.run();
            }
            // A killed process' call does not arrive.
            return world.running() ? Optional.empty() : Optional.of(PodWorld.unavailable());
        };
        world.afterwards = before ? () -> {} : strike;
        world.start();
        world.taint("n1", "k:NoExecute@0");
        for (int second = 0; second < 100; second++) {
            world.advance(Duration.ofSeconds(1));
            if (!world.running()) {
                world.advance(Duration.ofSeconds(1));
                world.start();
            }
        }
        assertThat(world.deletions)
                .as("killed %s call %d", before ? "before" : "after", step)
                .hasSize(1)
                .first()
                .matches(deletion -> deletion.equals("pod1-uid@61") || deletion.equals("pod1-uid@63"));
        assertThat(world.pod("stays").object("metadata").has("deletionTimestamp"))
                .isFalse();
        return killed[0];
    }
}
