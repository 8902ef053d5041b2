package io.nodekeeper.agent.culprit;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.load.Work;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A runtime that works, or waits for a processor, is not hung until it has answered nothing for long. */
class BusyRuntimeTest {
    private static final Duration AT_ONCE = Duration.ofMillis(1);

    private final WatchedNode node = new WatchedNode(1);
    private final WorkMeter meter = new WorkMeter(node.loop);

    BusyRuntimeTest() {
        meter.rates(0.01, 0);
        node.processes =
                () -> ProcessFixtures.healthyBut(ProcessFixtures.runtime('S').worked(meter.work()));
    }

    @ParameterizedTest
    @CsvSource({"1.5, 0.3, 25, RuntimeBusy", "0.1, 2.0, 150, NodeOverloaded"})
    void runtimeThatWorksOrWaitsForAProcessorIsNeverAccused(double ran, double queued, int longest, String reason) {
        for (long seed = 0; seed < 8; seed++) {
            WatchedNode busy = new WatchedNode(seed);
            WorkMeter work = new WorkMeter(busy.loop);
            busy.processes = () ->
                    ProcessFixtures.healthyBut(ProcessFixtures.runtime('R').worked(work.work()));
            stallsOf(busy, work, Randoms.seeded(seed), longest, ran, queued);

            busy.watch.start();
            busy.pass(Duration.ofMinutes(10), () -> {
                assertThat(busy.watch.culprits()).isEmpty();
                assertThat(busy.watch.condition().status()).isNotEqualTo("True");
            });

            assertThat(busy.found()).as("seed %d", seed).containsOnly(reason);
        }
    }

    @Test
    void silentRuntimeIsNamedInTheSameSecondsWhetherItsWorkIsKnownOrNot() {
        for (long seed = 0; seed < 8; seed++) {
            Duration hangs = Duration.ofMillis(60_000 + Randoms.seeded(seed).nextLong(20_000));
            WatchedNode known = new WatchedNode(seed);
            WorkMeter idle = new WorkMeter(known.loop);
            idle.rates(0.02, 0.01);
            known.processes = () ->
                    ProcessFixtures.healthyBut(ProcessFixtures.runtime('S').worked(idle.work()));
            WatchedNode unknown = new WatchedNode(seed);
            for (WatchedNode silent : List.of(known, unknown)) {
                silent.watch.start();
                silent.time.advance(hangs);
                silent.runtime.hang("*");
                silent.pass(Duration.ofSeconds(30), () -> {});
            }

            assertThat(known.found()).as("seed %d", seed).containsExactly("RuntimeHung");
            assertThat(known.heard).isEqualTo(unknown.heard);
        }
    }

    @Test
    void runtimeThatFallsSilentAfterWorkIsNamedWithinTwentyFiveSeconds() {
        for (long seed = 0; seed < 8; seed++) {
            WatchedNode fallen = new WatchedNode(seed);
            WorkMeter work = new WorkMeter(fallen.loop);
            fallen.processes = () ->
                    ProcessFixtures.healthyBut(ProcessFixtures.runtime('S').worked(work.work()));
            work.rates(1.2, 0.2);
            fallen.watch.start();
            fallen.time.advance(Duration.ofMillis(60_000 + Randoms.seeded(seed).nextLong(10_000)));
            work.rates(0, 0);
            fallen.runtime.hang("*");
            fallen.pass(Duration.ofSeconds(25), () -> {});

            assertThat(fallen.found()).as("seed %d", seed).endsWith("RuntimeHung");
        }
    }

    @ParameterizedTest
    @CsvSource({"1.0, 0.0, RuntimeBusy, 60", "0.05, 1.0, NodeOverloaded, 210"})
    void runtimeThatAnswersNothingIsHungAtABoundWhateverItDoes(double ran, double queued, String first, int seconds) {
        for (long seed = 0; seed < 6; seed++) {
            WatchedNode spinning = new WatchedNode(seed);
            WorkMeter work = new WorkMeter(spinning.loop);
            spinning.processes = () ->
                    ProcessFixtures.healthyBut(ProcessFixtures.runtime('R').worked(work.work()));
            spinning.watch.start();
            spinning.time.advance(
                    Duration.ofMillis(60_000 + Randoms.seeded(seed).nextLong(10_000)));
            work.rates(ran, queued);
            spinning.runtime.hang("*");
            spinning.pass(Duration.ofSeconds(seconds), () -> {});

            assertThat(spinning.found()).as("seed %d", seed).containsExactly(first, "RuntimeHung");
            assertThat(spinning.watch.condition().reason()).isEqualTo("RuntimeHung");
        }
    }

    @ParameterizedTest
    @CsvSource({"1.0, 0.0, RuntimeBusy", "0.05, 1.0, NodeOverloaded"})
    void runtimeWhoseCommandsBeginWorksHoweverLongItAnswersNothing(double ran, double queued, String load) {
        for (long seed = 0; seed < 6; seed++) {
            WatchedNode full = new WatchedNode(seed);
            WorkMeter work = new WorkMeter(full.loop);
            boolean[] begin = {true};
            long[] began = {0};
            full.processes = () -> {
                if (begin[0]) {
                    began[0] = full.seconds() / 3 * 3;
                }
                int pid = 400 + (int) began[0] / 3 % 100;
                int age = (int) (full.seconds() - began[0]);
                ProcessInfo runtime = ProcessFixtures.runtime('R').worked(work.work());
                return age < 3
                        ? ProcessFixtures.healthyBut(
                                runtime, ProcessFixtures.runc(pid, "exec", ProcessFixtures.WEB_APP, age))
                        : ProcessFixtures.healthyBut(runtime);
            };
            full.watch.start();
            full.time.advance(Duration.ofMillis(60_000 + Randoms.seeded(seed).nextLong(10_000)));
            work.rates(ran, queued);
            full.runtime.hang("*");
            full.pass(Duration.ofMinutes(30), () -> {});
            assertThat(full.found()).as("seed %d", seed).containsOnly(load);

            begin[0] = false;
            full.pass(Duration.ofSeconds(20), () -> {});
            assertThat(full.found()).as("seed %d, once none begins", seed).endsWith("RuntimeHung");
        }
    }

    @Test
    void answerToAnotherCallShowsThatTheRuntimeIsNotSilent() {
        node.watch.start();
        node.time.advance(Duration.ofSeconds(60));
        node.runtime.hang("Version");
        node.pass(Duration.ofSeconds(30), () -> node.calls.call(new RuntimeCall.ListImages(), Duration.ofSeconds(2)));

        assertThat(node.found()).containsExactly("RuntimeCallHung");
        assertThat(node.watch.condition().message()).doesNotContain("answered nothing");
    }

    @Test
    void starvedCommandGetsTimeAndOneThatGotAProcessorDoesNot() {
        node.watch.start();
        node.time.advance(Duration.ofSeconds(60));
        shows(12, new Work(Duration.ofMillis(100), Duration.ofSeconds(9)));
        assertThat(node.found()).isEmpty();

        shows(12, new Work(Duration.ofMillis(2_500), Duration.ofSeconds(9)));
        assertThat(node.found()).containsExactly("OCIRuntimeHung");
    }

    @Test
    void starvedCommandIsNamedAtTheLatestAtFourTimesItsAge() {
        node.watch.start();
        node.time.advance(Duration.ofSeconds(60));
        shows(31, new Work(Duration.ofMillis(100), Duration.ofSeconds(31)));
        assertThat(node.found()).isEmpty();

        shows(32, new Work(Duration.ofMillis(100), Duration.ofSeconds(32)));
        assertThat(node.found()).containsExactly("OCIRuntimeHung");
    }

    @Test
    void callOfAPodWhoseShimIsStarvedIsDueToTheNodesLoad() {
        WorkMeter shim = new WorkMeter(node.loop);
        node.processes = () -> ProcessFixtures.healthyBut(
                ProcessFixtures.runtime('S').worked(meter.work()),
                ProcessFixtures.shim(200, ProcessFixtures.WEB, 'S').worked(shim.work()));
        node.watch.start();
        node.time.advance(Duration.ofSeconds(60));
        shim.rates(0.1, 0.8);
        node.runtime.hang("ContainerStats:" + ProcessFixtures.WEB_APP);
        node.pass(Duration.ofSeconds(30), () -> {});

        assertThat(node.found()).containsExactly("NodeOverloaded");
        Culprit culprit = node.watch.loads().getFirst();
        assertThat(culprit.evidence())
                .anyMatch(line -> line.contains("containerd-shim-runc-v2 (pid 200) of pod shop/web ran for"));

        shim.rates(0.001, 0.001);
        node.pass(Duration.ofSeconds(60), () -> {});
        assertThat(node.found()).containsExactly("NodeOverloaded", "ContainerCallHung");
    }

    @Test
    void loadExplainsLateCallsInAConditionThatIsFalseUntilAProcessHangsBesideIt() {
        WatchedNode queue = queue(1, new int[] {65});
        queue.watch.start();
        queue.time.advance(Duration.ofSeconds(60));
        queue.runtime.hang("ContainerStats:" + ProcessFixtures.WEB_APP);
        queue.pass(Duration.ofMinutes(2), () -> {});
        ConditionReport loaded = queue.watch.condition();
        assertThat(loaded.status()).isEqualTo("False");
        assertThat(loaded.reason()).isEqualTo("CommandsQueued");
        assertThat(loaded.message()).startsWith("no process was found to hang; many commands at once wait");

        queue.runtime.hang("ContainerStats:" + ProcessFixtures.DB_APP);
        queue.pass(Duration.ofSeconds(20), () -> {});
        ConditionReport hung = queue.watch.condition();
        assertThat(hung.status()).isEqualTo("True");
        assertThat(hung.reason()).isEqualTo("ContainerCallHung");
        assertThat(queue.watch.loads()).extracting(Culprit::reason).containsExactly("CommandsQueued");
    }

    @Test
    void agentThatStartsDuringALoadTellsItAndThatNotEverythingIsKnownYet() {
        WatchedNode queue = queue(1, new int[] {65});
        queue.runtime.hang("ContainerStats:" + ProcessFixtures.WEB_APP);
        queue.watch.start();
        queue.pass(Duration.ofMinutes(2), () -> {});

        ConditionReport started = queue.watch.condition();
        assertThat(started.status()).isEqualTo("Unknown");
        assertThat(started.message()).contains("ContainerStats").contains("; many commands at once wait");
    }

    @Test
    void callsBehindAQueueOfCommandsAreNotAccusedAndThoseOfOtherPodsAre() {
        for (long seed = 0; seed < 6; seed++) {
            WatchedNode queue = queue(seed, new int[] {65});
            queue.delay = call -> Optional.of(
                    call.equals(new RuntimeCall.GetContainerStats(ProcessFixtures.WEB_APP))
                            ? Duration.ofSeconds(70)
                            : AT_ONCE);
            queue.watch.start();
            queue.pass(Duration.ofMinutes(10), () -> {});
            assertThat(queue.found()).as("seed %d", seed).containsOnly("CommandsQueued");

            queue.runtime.hang("ContainerStats:" + ProcessFixtures.DB_APP);
            queue.pass(Duration.ofSeconds(20), () -> {});
            assertThat(queue.found()).as("seed %d", seed).contains("ContainerCallHung");
        }
    }

    @Test
    void callThatHangsBesideAQueueOfItsOwnPodIsNamedOnceTheQueueHasEnded() {
        for (long seed = 0; seed < 6; seed++) {
            int[] open = {10};
            WatchedNode queue = queue(seed, open);
            queue.watch.start();
            queue.time.advance(Duration.ofSeconds(60));
            queue.runtime.hang("ContainerStats:" + ProcessFixtures.WEB_APP);
            queue.pass(Duration.ofMinutes(5), () -> {});
            assertThat(queue.found()).as("seed %d", seed).containsOnly("CommandsQueued");

            open[0] = 2;
            queue.pass(Duration.ofSeconds(30), () -> {});
            assertThat(queue.found()).as("seed %d", seed).endsWith("ContainerCallHung");
        }
    }

    /** So many commands are open in the web container, of which the shim begins one each second. */
    private static WatchedNode queue(long seed, int[] open) {
        WatchedNode queue = new WatchedNode(seed);
        queue.processes = () -> ProcessFixtures.healthyBut(
                ProcessFixtures.runtime('S').commanding(Map.of(ProcessFixtures.WEB_APP, open[0])),
                ProcessFixtures.runc(400 + (int) queue.seconds() % 100, "exec", ProcessFixtures.WEB_APP, 0));
        return queue;
    }

    private void shows(int age, Work work) {
        ProcessInfo runc =
                ProcessFixtures.runc(400, "exec", ProcessFixtures.WEB_APP, age).worked(work);
        node.processes =
                () -> ProcessFixtures.healthyBut(ProcessFixtures.runtime('S').worked(meter.work()), runc);
        node.pass(Duration.ofSeconds(10), () -> {});
    }

    /** Times without an answer of up to {@code longest} seconds, in which the runtime works; between them it is calm. */
    private static void stallsOf(
            WatchedNode node, WorkMeter work, RandomGenerator random, int longest, double ran, double queued) {
        Duration[] until = {Duration.ZERO};
        stall(node, work, random, longest, ran, queued, until, Duration.ofSeconds(30));
        node.delay = call -> Optional.of(
                until[0].compareTo(node.time.elapsed()) > 0 ? until[0].minus(node.time.elapsed()) : AT_ONCE);
    }

    private static void stall(
            WatchedNode node,
            WorkMeter work,
            RandomGenerator random,
            int longest,
            double ran,
            double queued,
            Duration[] until,
            Duration in) {
        node.loop.schedule(in, () -> {
            Duration lasts = Duration.ofMillis(random.nextLong(longest * 1_000L));
            until[0] = node.time.elapsed().plus(lasts);
            work.rates(ran, queued);
            node.loop.schedule(lasts, () -> {
                work.rates(0.05, 0.01);
                Duration pause = Duration.ofMillis(5_000 + random.nextLong(60_000));
                stall(node, work, random, longest, ran, queued, until, pause);
            });
        });
    }
}
