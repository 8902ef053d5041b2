package io.nodekeeper.agent.problems;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class NodeProblemsTest {
    private final ThreadLoop loop = new ThreadLoop("problems-test");
    private final Workers workers = new Workers("problems-test", 4, loop);
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private final CountDownLatch never = new CountDownLatch(1);

    @AfterEach
    void close() {
        never.countDown();
        workers.close();
        loop.close();
    }

    /** What a check does in each run; the last one is repeated. */
    private interface Run {
        Finding run() throws IOException;
    }

    private record FakeCheck(String name, Duration deadline, BlockingQueue<Run> runs) implements ProblemCheck {
        @Override
        public List<String> conditions() {
            return List.of("DiskFailed");
        }

        @Override
        public Duration period() {
            return Duration.ofMillis(1);
        }

        @Override
        public Finding run() throws IOException {
            Run next = runs.size() > 1 ? runs.remove() : runs.element();
            return next.run();
        }
    }

    private static FakeCheck check(String name, Run... runs) {
        return new FakeCheck(name, Duration.ofSeconds(30), new LinkedBlockingQueue<>(List.of(runs)));
    }

    private static Finding condition(String status) {
        return new Finding(List.of(new ConditionReport("DiskFailed", status, "Reason" + status, "text")), List.of());
    }

    @Test
    void aCheckThatEndsWithAnErrorOfTheVirtualMachineRunsAgain() throws Exception {
        start(check(
                "disk",
                () -> {
                    throw new StackOverflowError();
                },
                () -> condition("True")));

        assertThat(event()).contains("CheckFailed");
        assertThat(event()).contains("ReasonTrue");
    }

    private NodeProblems start(ProblemCheck... checks) {
        return start(workers, checks);
    }

    private NodeProblems start(Workers on, ProblemCheck... checks) {
        NodeProblems problems = new NodeProblems(
                List.of(checks),
                loop,
                on,
                Randoms.seeded(1),
                event -> events.add(event.type() + " " + event.reason() + " " + event.message()));
        problems.start();
        return problems;
    }

    private String event() throws InterruptedException {
        String event = events.poll(30, TimeUnit.SECONDS);
        assertThat(event).isNotNull();
        return event;
    }

    @Test
    void eachChangeOfAConditionIsAnEvent() throws Exception {
        start(check("disk", () -> condition("False"), () -> condition("True"), () -> condition("False")));

        assertThat(event())
                .isEqualTo("Warning ReasonTrue Node condition DiskFailed is now: True, reason: ReasonTrue, message:"
                        + " \"text\"");
        assertThat(event())
                .isEqualTo("Normal ReasonFalse Node condition DiskFailed is now: False, reason: ReasonFalse, message:"
                        + " \"text\"");
    }

    @Test
    void aCheckThatFailsMakesItsConditionUnknownAndRecovers() throws Exception {
        start(check(
                "disk",
                () -> {
                    throw new IOException("no such device");
                },
                () -> condition("False")));

        assertThat(event())
                .isEqualTo("Normal CheckFailed Node condition DiskFailed is now: Unknown, reason: CheckFailed,"
                        + " message: \"the check of the disk failed: no such device\"");
        assertThat(event()).startsWith("Normal ReasonFalse ");
    }

    @Test
    void aCheckThatHangsAffectsNoOtherAndHasOneThread() throws Exception {
        NodeProblems problems = start(
                new FakeCheck("disk", Duration.ofMillis(50), new LinkedBlockingQueue<>(List.<Run>of(() -> {
                    while (never.getCount() > 0) {
                        try {
                            never.await();
                        } catch (InterruptedException e) {
                            // As uninterruptible as a hung disk.
                        }
                    }
                    return condition("False");
                }))),
                check("log", () -> condition("True")));

        assertThat(event())
                .satisfiesAnyOf(
                        first -> assertThat(first).startsWith("Warning ReasonTrue "),
                        first -> assertThat(first).startsWith("Normal CheckFailed "));
        // True of one check outweighs Unknown of the other.
        awaitStatus(problems, "True");
    }

    @Test
    void aCheckThatFoundNoThreadInTimeRunsAgain() throws Exception {
        try (Workers one = new Workers("problems-test-busy", 1, loop)) {
            one.execute(() -> {
                try {
                    never.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            start(
                    one,
                    new FakeCheck(
                            "disk",
                            Duration.ofMillis(50),
                            new LinkedBlockingQueue<>(List.<Run>of(() -> condition("True")))));
            assertThat(event()).startsWith("Normal CheckFailed ");

            never.countDown();

            assertThat(event()).startsWith("Warning ReasonTrue ");
        }
    }

    @Test
    void aProblemThatOneOfTwoChecksSeesIsThere() throws Exception {
        NodeProblems problems =
                start(check("kernel", () -> condition("False")), check("rules", () -> condition("True")));

        assertThat(event()).startsWith("Warning ReasonTrue ");
        awaitStatus(problems, "True");
        assertThat(events).isEmpty();
    }

    private void awaitStatus(NodeProblems problems, String status) throws InterruptedException {
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        String last = "";
        for (int i = 0; i < 30_000 && !last.equals(status); i++) {
            loop.execute(() -> seen.add(problems.conditions().getFirst().status()));
            last = seen.poll(30, TimeUnit.SECONDS);
        }
        assertThat(last).isEqualTo(status);
    }
}
