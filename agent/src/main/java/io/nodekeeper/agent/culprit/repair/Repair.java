package io.nodekeeper.agent.culprit.repair;

import io.nodekeeper.agent.culprit.Findings;
import io.nodekeeper.agent.culprit.repair.Attempt.Outcome;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Applies a {@link RepairPlan} in rounds. A round applies the mildest remedy that is left of each culprit, or one that
 * needs force if no milder one is left, and examines the runtime again. Immediately before each remedy, the processes
 * are scanned once more: the same culprit must still be found, with the same remedy. One instance serves one run, on
 * its loop.
 */
public final class Repair {
    /** The deadline of a signal or of a write to a kernel's file: both take microseconds. */
    private static final Duration ACTION = Duration.ofSeconds(5);

    /** Examines the runtime. */
    public interface Examiner {
        /** A complete examination. */
        CompletableFuture<Findings> examine();

        /** Scans the processes again, and diagnoses with the last examination's answers of the runtime. */
        CompletableFuture<Findings> rescan();
    }

    /**
     * The result.
     *
     * @param findings the last examination, after all remedies
     * @param attempts the remedies that were tried, in order
     */
    public record Result(Findings findings, List<Attempt> attempts) {
        /** Whether at least one remedy was applied. */
        public boolean changedSomething() {
            return attempts.stream().anyMatch(attempt -> attempt.outcome() != Outcome.NOT_APPLIED);
        }
    }

    private final RepairPlan plan;
    private final Examiner examiner;
    private final Remedies remedies;
    private final Loop loop;
    private final Duration recovery;
    private final Consumer<String> progress;
    private final List<RepairStep> tried = new ArrayList<>();
    /** Culprits for which nothing more is done, because a milder remedy could not be tried. */
    private final Set<String> closed = new HashSet<>();

    private final List<Attempt> attempts = new ArrayList<>();

    /**
     * A run of {@code plan}.
     *
     * @param workers for signals and files
     * @param recovery how long the runtime gets after remedies to answer the calls that waited, before it is examined
     * @param progress receives progress messages
     */
    public Repair(
            RepairPlan plan,
            Examiner examiner,
            ContainerRuntime runtime,
            Host host,
            Workers workers,
            Loop loop,
            Duration recovery,
            Consumer<String> progress) {
        this(
                plan,
                examiner,
                new Remedies(runtime, host, action -> loop.deliver(workers.call("a remedy", ACTION, action)), loop),
                loop,
                recovery,
                progress);
    }

    Repair(
            RepairPlan plan,
            Examiner examiner,
            Remedies remedies,
            Loop loop,
            Duration recovery,
            Consumer<String> progress) {
        this.plan = plan;
        this.examiner = examiner;
        this.remedies = remedies;
        this.loop = loop;
        this.recovery = recovery;
        this.progress = progress;
    }

    /** Applies the plan, which was made from {@code first}. To be called on the loop, once. */
    public CompletableFuture<Result> run(Findings first) {
        return round(first, false);
    }

    /** One round; {@code confirmed} if {@code now} is not the first examination. */
    private CompletableFuture<Result> round(Findings now, boolean confirmed) {
        List<RepairStep> steps = plan.next(now, tried, closed);
        if (steps.isEmpty()) {
            return CompletableFuture.completedFuture(new Result(now, List.copyOf(attempts)));
        }
        if (steps.getFirst().needsForce() && !confirmed) {
            // What costs something must be found twice.
            return examiner.examine().thenCompose(next -> round(next, true));
        }
        int before = attempts.size();
        CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
        for (RepairStep step : steps) {
            done = done.thenCompose(previous -> apply(step));
        }
        return done.thenCompose(applied -> Deadlines.sleep(loop, recovery))
                .thenCompose(slept -> examiner.examine())
                .thenCompose(next -> {
                    judge(before, next);
                    return round(next, true);
                });
    }

    private CompletableFuture<Void> apply(RepairStep step) {
        List<RepairStep> before = List.copyOf(tried);
        tried.add(step);
        return examiner.rescan().thenCompose(fresh -> {
            Optional<RepairStep> still = plan.still(step, fresh, before);
            if (still.isEmpty()) {
                closed.add(step.culprit().key());
                attempts.add(new Attempt(
                        step, Outcome.NOT_APPLIED, "the last scan before it did not find this any more", false));
                return CompletableFuture.completedFuture(null);
            }
            progress.accept(still.get().remedy().text());
            return remedies.apply(still.get().remedy())
                    .thenAccept(applied -> attempts.add(new Attempt(
                            still.get(),
                            applied.worked() ? Outcome.WORKED : Outcome.NO_EFFECT,
                            applied.detail(),
                            false)));
        });
    }

    private void judge(int from, Findings next) {
        for (int i = from; i < attempts.size(); i++) {
            String key = attempts.get(i).step().culprit().key();
            boolean gone = next.processError().isEmpty()
                    && next.culprits().stream()
                            .noneMatch(culprit -> culprit.key().equals(key));
            attempts.set(i, attempts.get(i).judged(gone));
        }
    }
}
