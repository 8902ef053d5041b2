package io.nodekeeper.agent.shutdown;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.config.ShutdownConfig;
import io.nodekeeper.agent.config.ShutdownConfig.Group;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The end of pods before that of the machine, in virtual time. */
class ShutdownManagerTest {
    /** What ended pods say, after their time in seconds. */
    private static final String TERMINATED = "s Terminated: Pod was terminated in response to imminent node shutdown.";

    private static final Group NORMAL = new Group(0, Duration.ofSeconds(20));
    private static final Group CRITICAL = new Group(2_000_000_000L, Duration.ofSeconds(10));

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final FakeLogind logind = new FakeLogind();
    private final FakePods pods = new FakePods();
    private final List<String> events = new ArrayList<>();
    /** What the metrics got. */
    private final List<String> times = new ArrayList<>();

    private int statuses;
    private ShutdownManager manager = manager(NORMAL, CRITICAL);

    private static final class AtOnce implements BlockingCalls {
        @Override
        public <T> CompletableFuture<T> call(String what, Duration deadline, Callable<T> work) {
            try {
                return CompletableFuture.completedFuture(work.call());
            } catch (Exception e) {
                return CompletableFuture.failedFuture(e);
            }
        }
    }

    private ShutdownManager manager(Group... groups) {
        return new ShutdownManager(
                new ShutdownConfig(List.of(groups)),
                logind,
                new AtOnce(),
                pods,
                events::add,
                () -> statuses++,
                new ShutdownMetrics() {
                    @Override
                    public void shutdownBegan(Instant time) {
                        times.add("began " + time);
                    }

                    @Override
                    public void shutdownEnded(Instant time) {
                        times.add("ended " + time);
                    }
                },
                loop);
    }

    private final class FakePods implements EndingPods {
        final Map<String, Pod> all = new LinkedHashMap<>();
        final Map<String, Long> endAt = new LinkedHashMap<>();
        final Map<String, Integer> needs = new LinkedHashMap<>();
        final List<String> ended = new ArrayList<>();
        boolean refused;
        boolean known = true;

        void add(String name, long priority, int graceSeconds, int needsSeconds) {
            all.put(name, new Pod(Json.parseObject("""
                    {"metadata": {"name": "%1$s", "namespace": "shop", "uid": "%1$s"},
                     "spec": {"priority": %2$d, "terminationGracePeriodSeconds": %3$d}}
                    """.formatted(name, priority, graceSeconds))));
            needs.put(name, needsSeconds);
        }

        /** A pod that has been deleted, and takes all of its grace period unless it gets less. */
        void addDeleted(String name, long priority, int graceSeconds, int needsSeconds) {
            add(name, priority, graceSeconds, needsSeconds);
            endAt.put(name, at() + graceSeconds);
        }

        @Override
        public List<Pod> left() {
            return all.values().stream()
                    .filter(pod -> !endAt.containsKey(pod.uid()) || isEnding(pod))
                    .toList();
        }

        @Override
        public boolean areKnown() {
            return known;
        }

        @Override
        public void end(Pod pod, Duration grace, String reason, String message) {
            ended.add(at() + " " + pod.name() + " " + grace.toSeconds() + "s " + reason + ": " + message);
            endAt.put(pod.uid(), at() + needs.getOrDefault(pod.uid(), 0));
        }

        @Override
        public boolean isEnding(Pod pod) {
            return at() < endAt.getOrDefault(pod.uid(), 0L);
        }

        @Override
        public void refuseAll(boolean now) {
            refused = now;
        }
    }

    private long at() {
        return Duration.between(
                        Instant.parse("2026-01-01T00:00:00Z"), loop.clock().wallTime())
                .toSeconds();
    }

    private final class FakeLogind implements Logind {
        Duration delay = Duration.ofSeconds(5);
        Duration longest = Duration.ofDays(1);
        boolean present = true;
        boolean preparing;
        int locks;
        int connections;
        /** Whether the connection breaks while the lock is taken. */
        boolean breaks;

        /** Whether a cancellation follows the next answer that a shutdown is under way. */
        boolean cancels;

        Consumer<Boolean> shutdown = begun -> {};
        Runnable lost = () -> {};

        @Override
        public Session connect(Consumer<Boolean> shutdownListener, Runnable lostListener) throws IOException {
            if (!present) {
                throw new IOException("no logind");
            }
            connections++;
            shutdown = shutdownListener;
            lost = lostListener;
            return new Session() {
                @Override
                public Duration longestDelay() {
                    return delay;
                }

                @Override
                public void extendDelay(Duration wanted) {
                    delay = wanted.compareTo(longest) < 0 ? wanted : longest;
                }

                @Override
                public boolean isShuttingDown() {
                    boolean answer = preparing;
                    if (cancels) {
                        cancels = false;
                        signal(false);
                    }
                    return answer;
                }

                @Override
                public Lock delayShutdown() throws IOException {
                    if (preparing) {
                        throw new IOException("The operation inhibition has been requested for is already running");
                    }
                    locks++;
                    if (breaks) {
                        breaks = false;
                        lost.run();
                    }
                    return () -> locks--;
                }

                @Override
                public void close() {
                    connections--;
                }
            };
        }

        void signal(boolean begun) {
            preparing = begun;
            shutdown.accept(begun);
        }
    }

    private void advance(int seconds) {
        time.advance(Duration.ofSeconds(seconds));
    }

    @Test
    @Tag("A101")
    void shouldExtendTheDelayAndTakeTheLock() {
        manager.start();
        advance(1);

        assertThat(logind.delay).isEqualTo(Duration.ofSeconds(30));
        assertThat(logind.locks).isEqualTo(1);
        assertThat(manager.isShuttingDown()).isFalse();
    }

    @Test
    @Tag("A101")
    void shouldDoWithoutIfTheDelayCannotBeExtended() {
        logind.longest = Duration.ofSeconds(5);
        manager.start();
        advance(10);

        assertThat(logind.locks).isZero();
        assertThat(logind.connections).isZero();

        // An operator has changed the limit: the manager tries again and again.
        logind.longest = Duration.ofSeconds(30);
        advance(60);
        assertThat(logind.locks).isEqualTo(1);
    }

    @Test
    void shouldNotConnectWithoutGroups() {
        manager = manager();
        manager.start();
        advance(10);

        assertThat(logind.connections).isZero();
    }

    @Test
    @Tag("A102")
    void shouldEndPodsGroupByGroupAndThenLetTheMachineGo() {
        pods.add("quick", 0, 30, 3);
        pods.add("brief", 5, 8, 6);
        pods.add("system", 2_000_001_000L, 60, 4);
        manager.start();
        advance(1);

        logind.signal(true);
        advance(0);
        assertThat(manager.isShuttingDown()).isTrue();
        assertThat(pods.refused).isTrue();
        assertThat(statuses).isEqualTo(1);
        assertThat(events).containsExactly("Shutdown manager detected shutdown event");
        assertThat(pods.ended).containsExactly("1 quick 20" + TERMINATED, "1 brief 8" + TERMINATED);

        advance(7);
        assertThat(pods.ended).hasSize(3).last().isEqualTo("7 system 10" + TERMINATED);
        assertThat(logind.locks).isEqualTo(1);
        advance(5);
        assertThat(logind.locks).isZero();
        assertThat(times).containsExactly("began 2026-01-01T00:00:01Z", "ended 2026-01-01T00:00:11Z");
    }

    @Test
    @Tag("A102")
    void shouldNotWaitLongerThanAGroupsPeriod() {
        pods.add("slow", 0, 600, 600);
        pods.add("system", 2_000_000_000L, 600, 600);
        manager.start();
        advance(1);

        logind.signal(true);
        advance(20);
        assertThat(pods.ended).hasSize(2);
        advance(9);
        assertThat(logind.locks).isEqualTo(1);
        advance(2);

        assertThat(logind.locks).isZero();
    }

    @Test
    @Tag("A102")
    void shouldTakeTheLockAgainWhenTheShutdownIsCancelled() {
        pods.add("slow", 0, 600, 600);
        pods.add("system", 2_000_000_000L, 600, 1);
        manager.start();
        advance(1);
        logind.signal(true);
        advance(5);

        logind.signal(false);
        advance(60);

        assertThat(manager.isShuttingDown()).isFalse();
        assertThat(pods.refused).isFalse();
        assertThat(events).last().isEqualTo("Shutdown manager detected shutdown cancellation");
        assertThat(logind.locks).isEqualTo(1);
        assertThat(logind.connections).isEqualTo(1);
        // The groups that had not begun stay as they are.
        assertThat(pods.ended).hasSize(1);
        assertThat(times).containsExactly("began 2026-01-01T00:00:01Z", "ended 2026-01-01T00:00:06Z");

        // In the next shutdown the one that is still ending gets less time again.
        logind.signal(true);
        advance(40);
        assertThat(logind.locks).isZero();
        assertThat(pods.ended.stream().map(line -> line.split(" ")[1])).containsExactly("slow", "slow", "system");
    }

    @Test
    @Tag("A102")
    void shouldWaitForPodsThatAreBeingDeletedAndGiveThemNoMoreThanTheTimeOfTheirGroup() {
        // given pods that were deleted with an hour and with five seconds to end
        pods.addDeleted("slow", 0, 3_600, 6);
        pods.addDeleted("brief", 0, 5, 1);
        pods.addDeleted("system", 2_000_000_000L, 3_600, 4);
        manager.start();
        advance(1);

        // when the machine is shut down
        logind.signal(true);
        advance(0);

        // then each has the time of its group at most, once, and the machine waits for them
        assertThat(pods.ended).containsExactly("1 slow 20" + TERMINATED, "1 brief 5" + TERMINATED);
        advance(7);
        assertThat(pods.ended).hasSize(3).last().isEqualTo("7 system 10" + TERMINATED);
        assertThat(logind.locks).isEqualTo(1);
        advance(5);
        assertThat(pods.ended).hasSize(3);
        assertThat(logind.locks).isZero();
    }

    @Test
    void shouldGoOnWithAShutdownThatBeganBeforeTheAgent() {
        pods.add("web", 0, 30, 1);
        logind.preparing = true;

        manager.start();
        advance(1);

        assertThat(manager.isShuttingDown()).isTrue();
        assertThat(pods.ended).hasSize(1);
        advance(5);
        assertThat(logind.locks).isZero();
    }

    @Test
    void shouldWaitUntilPodsAreKnownBeforeTheMachineGoes() {
        // given an agent that has just started, and knows no pods yet
        pods.known = false;
        manager.start();
        advance(1);

        // when a shutdown begins, and the pods become known later
        logind.signal(true);
        advance(5);
        assertThat(logind.locks).isEqualTo(1);
        pods.add("system", 2_000_000_000L, 60, 4);
        pods.add("web", 0, 600, 3);
        pods.known = true;
        advance(1);

        // then they end in the order of their groups, the first one within the rest of its time
        assertThat(pods.ended).hasSize(1).first().asString().matches("6 web 1[45]s Terminated: .*");
        advance(4);
        assertThat(pods.ended).hasSize(2).last().asString().contains(" system 10s Terminated: ");
        advance(6);
        assertThat(logind.locks).isZero();
    }

    @Test
    void shouldWaitForUnknownPodsNoLongerThanForItsFirstGroup() {
        // given an agent that cannot find out which pods it has
        pods.known = false;
        manager.start();
        advance(1);

        // when a shutdown begins
        logind.signal(true);
        advance(19);
        assertThat(logind.locks).isEqualTo(1);

        // then the machine goes after the time of the first group
        advance(2);
        assertThat(logind.locks).isZero();
    }

    @Test
    void shouldEndPodsThatBecomeKnownAfterTheirGroup() {
        // given a shutdown whose second group has begun
        pods.add("system", 2_000_000_000L, 60, 4);
        manager.start();
        advance(1);
        logind.signal(true);
        advance(1);

        // when a pod of the first group becomes known, and another one after all groups
        pods.add("web", 0, 5, 1);
        advance(1);
        assertThat(pods.ended).hasSize(2).last().asString().contains(" web 5s Terminated: ");
        advance(10);
        assertThat(logind.locks).isZero();
        pods.add("last", 0, 60, 1);
        advance(1);

        // then they end, too
        assertThat(pods.ended).hasSize(3).last().asString().contains(" last 10s Terminated: ");

        // until the shutdown is cancelled
        logind.signal(false);
        pods.add("new", 0, 60, 1);
        advance(60);
        assertThat(pods.ended).hasSize(3);
    }

    @Test
    void shouldTakePodsAgainIfTheShutdownWasCancelledWithoutAConnection() {
        // given a shutdown whose connection is lost
        pods.add("slow", 0, 600, 600);
        manager.start();
        advance(1);
        logind.signal(true);
        advance(1);

        // when it is cancelled meanwhile
        logind.preparing = false;
        logind.lost.run();
        advance(60);

        // then the new connection shows it, and has the only lock
        assertThat(manager.isShuttingDown()).isFalse();
        assertThat(pods.refused).isFalse();
        assertThat(logind.locks).isEqualTo(1);
        assertThat(logind.connections).isEqualTo(1);
    }

    @Test
    void shouldKeepTheLockIfTheConnectionIsLostDuringAShutdown() {
        // given a shutdown, and a pod that needs a while
        pods.add("slow", 0, 600, 300);
        manager.start();
        advance(1);
        logind.signal(true);
        advance(1);

        // when the connection is lost, and made again, which gives no lock now
        logind.lost.run();
        advance(10);

        // then the machine waits
        assertThat(logind.connections).isEqualTo(1);
        assertThat(logind.locks).isEqualTo(1);

        // until the pod has ended
        advance(300);
        assertThat(logind.locks).isZero();
    }

    @Test
    void shouldCloseAConnectionThatACancellationHasReplaced() {
        pods.add("slow", 0, 600, 600);
        manager.start();
        advance(1);
        logind.signal(true);
        advance(1);

        logind.cancels = true;
        logind.lost.run();
        advance(60);

        assertThat(manager.isShuttingDown()).isFalse();
        assertThat(logind.locks).isEqualTo(1);
        assertThat(logind.connections).isEqualTo(1);
    }

    @Test
    void shouldTakeALockIfTheShutdownBeforeItsStartIsCancelledMeanwhile() {
        pods.add("web", 0, 30, 1);
        logind.preparing = true;
        logind.cancels = true;

        manager.start();
        advance(10);

        assertThat(manager.isShuttingDown()).isFalse();
        assertThat(pods.ended).isEmpty();
        assertThat(logind.locks).isEqualTo(1);
        assertThat(logind.connections).isEqualTo(1);
    }

    @Test
    void shouldConnectAgainWhenTheConnectionIsLost() {
        manager.start();
        advance(1);

        logind.present = false;
        logind.lost.run();
        advance(10);
        assertThat(logind.locks).isZero();
        logind.present = true;
        advance(60);

        assertThat(logind.locks).isEqualTo(1);
        assertThat(logind.connections).isEqualTo(1);
    }

    @Test
    void shouldPutPodsIntoTheGroupWithTheHighestPriorityThatIsNotAboveTheirs() {
        pods.add("below", -5, 1, 0);
        pods.add("first", 10, 1, 0);
        pods.add("between", 19, 1, 0);
        pods.add("second", 20, 1, 0);
        manager = manager(new Group(20, Duration.ofSeconds(5)), new Group(10, Duration.ofSeconds(5)));
        manager.start();
        advance(1);

        logind.signal(true);
        advance(2);

        assertThat(pods.ended.stream().map(line -> line.split(" ")[1]))
                .containsExactly("below", "first", "between", "second");
    }

    @Test
    void shouldLetTheLockGoWhenItStops() {
        manager.start();
        advance(1);

        manager.stop();
        advance(1);

        assertThat(logind.locks).isZero();
        assertThat(logind.connections).isZero();
    }

    @Test
    void aConnectionThatBreaksWhileTheLockIsTakenIsMadeAgain() {
        logind.breaks = true;
        pods.add("web", 0, 30, 1);
        manager.start();
        time.advance(Duration.ofSeconds(5));
        assertThat(logind.connections).isEqualTo(1);
        assertThat(logind.locks).isEqualTo(1);

        logind.signal(true);
        time.advance(Duration.ofSeconds(5));

        assertThat(pods.ended).containsExactly("5 web 20" + TERMINATED);
    }
}
