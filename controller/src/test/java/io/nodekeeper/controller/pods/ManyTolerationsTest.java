package io.nodekeeper.controller.pods;

import static io.nodekeeper.controller.pods.PodWorld.tolerates;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.controller.config.WorkloadConfig;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods with more tolerations than are kept are evicted as others, because all are read when they matter. */
class ManyTolerationsTest {
    private static PodWorld world(boolean better) {
        PodWorld world = new PodWorld(better ? WorkloadConfig.DEFAULT : WorkloadConfig.REFERENCE);
        world.addNode("n1");
        return world;
    }

    /** A thousand tolerations of other taints, and {@code last}. */
    private static String[] many(String... last) {
        return Stream.concat(IntStream.range(0, 1000).mapToObj(i -> tolerates("other" + i)), Stream.of(last))
                .toArray(String[]::new);
    }

    private static long reads(PodWorld world, String pod) {
        return world.calls("GET", "/pods/" + pod);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void allTolerationsDecideHowLongAPodStays(boolean better) {
        PodWorld world = world(better);
        world.addPod("none", "n1", many());
        world.addPod("hundred", "n1", many(tolerates("k", 100)));
        world.addPod("forever", "n1", many(tolerates("k")));
        world.start();

        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("5S");
        assertThat(world.deletions).containsExactly("none-uid@0");

        world.advanceTo("1000S");
        assertThat(world.deletions).containsExactly("none-uid@0", better ? "hundred-uid@101" : "hundred-uid@100");
        // and a pod that may stay is read once
        assertThat(reads(world, "forever")).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void nothingIsReadWhileTheNodeHasNoTaintOrOneOfTheFirstTolerationsMatchesIt(boolean better) {
        PodWorld world = world(better);
        world.addPod("pod1", "n1", many());
        world.start();
        world.advanceTo("100S");
        world.taint("n1", "other3:NoExecute@100");
        world.advanceTo("200S");

        assertThat(reads(world, "pod1")).isZero();
        assertThat(world.deletions).isEmpty();
    }

    @Test
    void newTaintsAndNewTolerationsAreDecidedByAnotherRead() {
        PodWorld world = world(true);
        world.addPod("pod1", "n1", many(tolerates("k"), tolerates("l", 10)));
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("100S");
        assertThat(world.deletions).isEmpty();

        world.taint("n1", "k:NoExecute@0", "l:NoExecute@100");
        world.advanceTo("105S");
        world.tolerate("pod1", many(tolerates("k"), tolerates("l", 50)));
        world.advanceTo("1000S");

        assertThat(world.deletions).containsExactly("pod1-uid@151");
        assertThat(world.events("TaintManagerEviction")).hasSize(1);
    }

    @Test
    void aReadFromBeforeAChangeDoesNotCount() {
        PodWorld world = world(true);
        world.addPod("pod1", "n1", many());
        world.latency = call -> call.target().endsWith("/pods/pod1") ? Duration.ofSeconds(2) : Duration.ZERO;
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("1S");

        world.tolerate("pod1", many(tolerates("k")));
        world.advanceTo("100S");

        assertThat(world.deletions).isEmpty();
        assertThat(reads(world, "pod1")).isEqualTo(2);
    }

    @Test
    void aPodThatCannotBeReadStaysUntilItCan() {
        PodWorld world = world(true);
        world.addPod("pod1", "n1", many());
        world.fault = call ->
                call.target().endsWith("/pods/pod1") && world.time.elapsed().toSeconds() < 60
                        ? Optional.of(PodWorld.unavailable())
                        : Optional.empty();
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("59S");
        assertThat(world.deletions).isEmpty();

        world.advanceTo("200S");
        assertThat(world.deletions).hasSize(1);
    }
}
