package io.nodekeeper.controller.pods;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** An exception anywhere in a job delays the job, but does not prevent it. */
class StuckJobTest {
    private static final Duration LONG_ENOUGH = Duration.ofHours(2);

    /** Throws once, at the given step of all calls and reports of the run. */
    private static final class Thrower {
        private final int at;
        private int steps;

        private Thrower(int at) {
            this.at = at;
        }

        private void step() {
            if (++steps == at) {
                throw new IllegalStateException("on purpose, at step " + at);
            }
        }
    }

    /** One pod for each reason to evict, mark or collect one, and a lease without a node. */
    private static Thrower run(int at) {
        Thrower thrower = new Thrower(at);
        PodWorld world = new PodWorld();
        world.addNode("tainted");
        world.addPod("evicted", "tainted");
        world.addNode("silent");
        world.addPod("marked", "silent");
        world.addNode("off");
        world.addPod("ending", "off");
        world.patchPod("ending", "{\"metadata\":{\"deletionTimestamp\":\"2015-01-01T12:01:00Z\"}}");
        world.addPod("orphan", "gone");
        world.renew("left");
        world.fault = call -> {
            if (!call.target().startsWith("/api/v1/pods?limit=")) {
                thrower.step();
            }
            return Optional.empty();
        };
        world.reporting = thrower::step;
        world.start();
        world.advanceTo("1S");
        world.taint("tainted", "k:NoExecute@1");
        world.ready("silent", "Unknown", PodWorld.B.plusSeconds(1));
        world.ready("off", "Unknown", PodWorld.B.plusSeconds(1));
        world.taint("off", "node.kubernetes.io/out-of-service:NoSchedule");

        world.advance(LONG_ENOUGH);

        assertThat(world.deletions)
                .as("thrown at step %d", at)
                .extracting(deletion -> deletion.split("[!@]")[0])
                .containsExactlyInAnyOrder("evicted-uid", "ending-uid", "orphan-uid");
        assertThat(world.podReady("marked")).as("thrown at step %d", at).isEqualTo("False");
        assertThat(world.leases()).as("thrown at step %d", at).isEmpty();
        for (String jobs : List.of("evictions", "marks", "lease checks", "collected nodes", "collected pods")) {
            assertThat(world.sizes()).as("thrown at step %d", at).containsEntry(jobs, 0);
        }
        return thrower;
    }

    @Test
    void exceptionAtAnyStepDelaysNoMoreThanTheJob() {
        int steps = run(0).steps;
        assertThat(steps).as("calls and reports").isGreaterThan(25);
        for (int at = 1; at <= steps; at++) {
            run(at);
        }
    }
}
