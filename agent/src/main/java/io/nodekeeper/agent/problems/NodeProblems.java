package io.nodekeeper.agent.problems;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.problems.Finding.Temporary;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Failures;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import io.nodekeeper.time.Workers;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the checks of the node and keeps their conditions. Each check has its own period, deadline and worker, so a check
 * that hangs or fails affects only its own conditions. Confined to its loop, except {@link #start} and {@link #stop}.
 */
public final class NodeProblems implements ProblemView {
    private static final Logger log = LoggerFactory.getLogger(NodeProblems.class);
    /** The reason of a condition whose check failed. */
    static final String FAILED = "CheckFailed";

    private static final List<String> ORDER = List.of(Condition.TRUE, Condition.UNKNOWN, Condition.FALSE);

    private final List<ProblemCheck> checks;
    private final Loop loop;
    private final Workers workers;
    private final RandomGenerator random;
    private final Consumer<Temporary> events;
    /** By type: what each check reports. Bounded by the conditions of all checks. */
    private final Map<String, Map<ProblemCheck, ConditionReport>> reports = new LinkedHashMap<>();

    private final List<Periodic> loops = new ArrayList<>();
    private Runnable onNews = () -> {};

    /**
     * Checks that are not started yet.
     *
     * @param workers runs the checks; has a thread for each
     * @param events receives temporary problems and changes of conditions, on the loop
     */
    public NodeProblems(
            List<ProblemCheck> checks, Loop loop, Workers workers, RandomGenerator random, Consumer<Temporary> events) {
        this.checks = List.copyOf(checks);
        this.loop = loop;
        this.workers = workers;
        this.random = random;
        this.events = events;
    }

    /** Starts all checks. */
    public void start() {
        loop.execute(() -> checks.forEach(check ->
                loops.add(Periodic.start(check.name(), loop, check.period(), 0, random, new Runner(check)::run))));
    }

    /** Starts no further check. */
    public void stop() {
        loop.execute(() -> loops.forEach(Periodic::stop));
    }

    @Override
    public List<ConditionReport> conditions() {
        return reports.values().stream().map(NodeProblems::worst).toList();
    }

    @Override
    public void onNews(Runnable listener) {
        onNews = listener;
    }

    /** One check; at most one run of it is on a worker, also when its deadline has passed. */
    private final class Runner {
        private final ProblemCheck check;
        private CompletableFuture<Finding> actual =
                CompletableFuture.completedFuture(new Finding(List.of(), List.of()));

        private Runner(ProblemCheck check) {
            this.check = check;
        }

        private CompletableFuture<?> run() {
            if (!actual.isDone()) {
                // Still stuck: the conditions are Unknown since the deadline of that run.
                return CompletableFuture.completedFuture(null);
            }
            AtomicBoolean begun = new AtomicBoolean();
            CompletableFuture<Finding> started = new CompletableFuture<>();
            actual = started;
            return workers.call(check.name(), check.deadline(), () -> {
                        begun.set(true);
                        try {
                            Finding finding = check.run();
                            started.complete(finding);
                            return finding;
                        } catch (Throwable e) {
                            started.completeExceptionally(e);
                            throw e;
                        }
                    })
                    .whenComplete((finding, error) -> {
                        if (error != null && !begun.get()) {
                            // It found no worker, so it is not stuck.
                            started.completeExceptionally(error);
                        }
                    })
                    .handleAsync(
                            (finding, error) -> {
                                if (error == null) {
                                    finding.conditions().forEach(report -> set(check, report));
                                    finding.events().forEach(events);
                                } else {
                                    failed(check, Failures.text(error));
                                }
                                return finding;
                            },
                            loop);
        }
    }

    private void failed(ProblemCheck check, String error) {
        String message = "the check of the " + check.name() + " failed: " + error;
        for (String type : check.conditions()) {
            set(check, new ConditionReport(type, Condition.UNKNOWN, FAILED, message));
        }
    }

    private void set(ProblemCheck check, ConditionReport report) {
        Map<ProblemCheck, ConditionReport> all = reports.computeIfAbsent(report.type(), type -> new LinkedHashMap<>());
        String before = all.isEmpty() ? Condition.FALSE : worst(all).status();
        all.put(check, report);
        ConditionReport now = worst(all);
        if (now.status().equals(before)) {
            return;
        }
        log.info("{}={}: {}: {}", now.type(), now.status(), now.reason(), now.message());
        events.accept(new Temporary(
                now.status().equals(Condition.TRUE) ? EventRecorder.WARNING : EventRecorder.NORMAL,
                now.reason(),
                "Node condition " + now.type() + " is now: " + now.status() + ", reason: " + now.reason()
                        + ", message: \"" + now.message() + "\""));
        onNews.run();
    }

    /** Several checks can report one type: a problem that one of them sees is there. */
    private static ConditionReport worst(Map<ProblemCheck, ConditionReport> all) {
        return all.values().stream()
                .min(Comparator.comparingInt(report -> ORDER.indexOf(report.status())))
                .orElseThrow();
    }
}
