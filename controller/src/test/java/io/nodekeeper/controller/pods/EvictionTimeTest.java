package io.nodekeeper.controller.pods;

import static io.nodekeeper.controller.pods.PodWorld.tolerates;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code timeAdded} has whole seconds; wherever in its second a taint was added, no pod leaves early. */
class EvictionTimeTest {
    private static final Duration MILLI = Duration.ofMillis(1);

    /** A world in which a taint was added {@code millis} after 5 s; its pod tolerates it for 30 s. */
    private static PodWorld tainted(int millis) {
        PodWorld world = new PodWorld();
        world.addNode("n1");
        world.addPod("pod1", "n1", tolerates("k", 30));
        world.start();
        world.advance(Duration.ofMillis(5_000 + millis));
        world.taint("n1", "k:NoExecute@5");
        return world;
    }

    private static void assertLeavesWithinTheSecondAfter(PodWorld world, int millis) {
        world.advance(
                Duration.ofMillis(35_000 + millis).minus(world.time.elapsed()).minus(MILLI));
        assertThat(world.deletions).as("early, added at 5.%03d s", millis).isEmpty();
        world.advance(Duration.ofMillis(1_020));
        assertThat(world.deletions).as("late, added at 5.%03d s", millis).hasSize(1);
    }

    @Test
    @Tag("L62")
    void podLeavesWithinASecondAfterItsTolerationAndNeverBefore() {
        for (int millis = 0; millis < 1_000; millis++) {
            assertLeavesWithinTheSecondAfter(tainted(millis), millis);
        }
    }

    @Test
    @Tag("L71")
    void restartDoesNotChangeTheMoment() {
        for (int millis = 0; millis < 1_000; millis += 7) {
            PodWorld world = tainted(millis);
            world.advance(Duration.ofSeconds(10));
            world.kill();
            world.advance(Duration.ofMillis(3_333));
            world.start();
            assertLeavesWithinTheSecondAfter(world, millis);
        }
    }

    @Test
    @Tag("L62")
    void taintThatIsSetAgainUnseenInTheSameSecondCountsFromTheSecondTime() {
        for (int again = 1; again < 1_000; again += 7) {
            PodWorld world = tainted(0);
            world.nodeWatchStalled = true;
            world.taint("n1");
            world.advance(Duration.ofMillis(again));
            world.taint("n1", "k:NoExecute@5");
            world.nodeWatchStalled = false;
            assertLeavesWithinTheSecondAfter(world, again);
        }
    }

    @Test
    @Tag("L68")
    void taintThatIsSetAgainUnseenLaterCountsFromTheLaterTime() {
        PodWorld world = new PodWorld();
        world.addNode("n1");
        world.addPod("pod1", "n1", tolerates(PodWorld.UNREACHABLE, 300));
        world.start();
        world.taint("n1", PodWorld.UNREACHABLE + ":NoExecute@0");
        world.advanceTo("100S");
        // given a node that was ready for a while, and is away again, and a watch that delivers only the end of it
        world.nodeWatchStalled = true;
        world.taint("n1");
        world.advanceTo("200S");
        world.nodeWatchStalled = false;
        world.taint("n1", PodWorld.UNREACHABLE + ":NoExecute@200");

        world.advanceTo("1000S");

        assertThat(world.deletions).containsExactly("pod1-uid@501");
    }

    @Test
    @Tag("L61")
    void readBeforeTheTaintDelaysNoEviction() {
        for (int gap = 0; gap <= 1_500; gap += 10) {
            for (int latency : new int[] {0, 5, 100, 400}) {
                // given a live look that begins with the loss of Ready, and a taint that follows it
                PodWorld world = new PodWorld();
                world.addNode("n1");
                world.addPod("pod1", "n1");
                world.start();
                world.latency =
                        call -> call.method().equals("GET") && call.target().contains("/nodes/")
                                ? Duration.ofMillis(latency)
                                : Duration.ZERO;
                world.advanceTo("10S");
                world.ready("n1", "Unknown", PodWorld.B.plusSeconds(10));
                world.advance(Duration.ofMillis(gap));

                world.taint("n1", "k:NoExecute@" + world.time.elapsed().toSeconds());
                // then two looks at most pass until the pod leaves: the one under way, and its own
                world.advance(Duration.ofMillis(2 * latency + 1));

                assertThat(world.deletions)
                        .as("taint %d ms after the look began, looks of %d ms", gap, latency)
                        .hasSize(1);
                assertThat(world.podReady("pod1")).isEqualTo("False");
            }
        }
    }

    @Test
    @Tag("L68")
    void podThatALiveLookFoundNotDueLeavesWhenItIsDueAgain() {
        for (int due = 1; due <= 120; due++) {
            // given a node without its taint, which the watch has not delivered when the toleration ends
            PodWorld world = new PodWorld();
            world.addNode("n1");
            world.addPod("pod1", "n1", tolerates("k", 30));
            world.start();
            world.taint("n1", "k:NoExecute@0");
            world.advanceTo("10S");
            world.nodeWatchStalled = true;
            world.taint("n1");
            world.advanceTo("31.005S");
            assertThat(world.deletions).isEmpty();

            // when the same taint is back later, and the watch delivers only that
            world.advance(Duration.ofMillis(due * 100));
            world.nodeWatchStalled = false;
            world.taint("n1", "k:NoExecute@0");
            world.advance(Duration.ofMillis(1));

            assertThat(world.deletions)
                    .as("taint is back %d ms later", due * 100)
                    .hasSize(1);
        }
    }

    @Test
    @Tag("L68")
    void podWithAYoungerTaintThanInTheWatchLeavesWhenThatTolerationEnds() {
        for (int later = 1; later <= 29; later++) {
            PodWorld world = new PodWorld();
            world.addNode("n1");
            world.addPod("pod1", "n1", tolerates("k", 30));
            world.start();
            world.taint("n1", "k:NoExecute@0");
            world.advanceTo(later + "S");

            // given a taint that was set again while the watch delivers nothing more
            world.nodeWatchStalled = true;
            world.taint("n1", "k:NoExecute@" + later);
            world.advanceTo("300S");

            assertThat(world.deletions).containsExactly("pod1-uid@" + (31 + later));
        }
    }

    @Test
    @Tag("L66")
    void tolerationThatTheWatchMissedKeepsThePod() {
        PodWorld world = new PodWorld();
        world.addNode("n1");
        world.addPod("pod1", "n1", tolerates("k", 30));
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("10S");

        // given a pod watch that delivers nothing more
        world.podWatchStalled = true;
        world.tolerate("pod1", tolerates("k", 3_600));
        world.advanceTo("600S");

        assertThat(world.deletions).isEmpty();
        assertThat(world.conditions("pod1")).noneMatch(condition -> condition.startsWith("DisruptionTarget"));
    }

    @Test
    @Tag("L72")
    void podOfANodeThatIsReadyAgainUnseenIsNotMarked() {
        PodWorld world = new PodWorld();
        world.addNode("n1");
        world.addPod("pod1", "n1");
        world.start();
        // given a mark that waits, as writes are refused for 2.5 s, and a node that is ready meanwhile
        boolean[] refused = {false};
        world.fault = call -> {
            if (call.method().equals("PATCH") && world.time.elapsed().toMillis() < 12_500) {
                refused[0] = true;
                world.nodeWatchStalled = true;
                world.ready("n1", "True", PodWorld.B.plusSeconds(10));
                return Optional.of(PodWorld.unavailable());
            }
            return Optional.empty();
        };
        world.advanceTo("10S");
        world.ready("n1", "Unknown", PodWorld.B.plusSeconds(10));

        world.advanceTo("120S");

        assertThat(refused[0]).isTrue();
        assertThat(world.podReady("pod1")).isEqualTo("True");
    }
}
