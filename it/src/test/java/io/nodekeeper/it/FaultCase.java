package io.nodekeeper.it;

import io.nodekeeper.api.Condition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/**
 * One fault on its own node: it is caused, observed, observed again after a restart of the agent, and ended.
 * Used by one thread.
 */
final class FaultCase {
    private static final int PODS = 3;
    /** The work of the start has ended by then. */
    private static final Duration SETTLED = Duration.ofSeconds(4);
    /** Longer than the 45 s within which the slowest fault must be seen. */
    private static final Duration OBSERVED = Duration.ofSeconds(50);

    private static final Duration LOOK = Duration.ofMillis(500);
    /** A sleep that takes so much longer shows that the machine stood still, for an agent, too. */
    private static final Duration OVERSLEPT = Duration.ofMillis(200);
    /** Nodes that all start at once would slow each other down. */
    private static final Semaphore STARTING = new Semaphore(2);
    /** The restarts of agents are measured one at a time. */
    private static final Semaphore RESTARTING = new Semaphore(1);

    private final RuntimeFault fault;
    private final ConditionLog conditions;
    private final String name;
    private final String[] agentFlags;

    /** {@code suffix} is the end of the node's name. */
    FaultCase(RuntimeFault fault, String suffix, ConditionLog conditions) {
        this.fault = fault;
        this.conditions = conditions;
        this.name = fault.name().toLowerCase(Locale.ROOT).replace('_', '-') + suffix;
        this.agentFlags = fault.agentFlags().toArray(String[]::new);
    }

    /** Runs all of it in {@code directory}; keeps the agents' logs if the result is not as expected. */
    FaultRow run(Path directory, Path kubeconfig) throws Exception {
        STARTING.acquire();
        RealNode node;
        try {
            node = started(Files.createDirectory(directory.resolve(name)), kubeconfig);
        } finally {
            STARTING.release();
        }
        try (node) {
            Thread.sleep(SETTLED.toMillis());
            fault.watch(node);
            long struck = System.nanoTime();
            fault.strike(node);
            Optional<Double> othersAge = observe(node);
            String pages = node.page().get("/debug/runtime").orElse("");
            String log = node.agent().log();

            List<FaultRow.Said> before = ready(struck);
            Optional<Double> restarted = restart(node);
            boolean sameAfterRestart = fault.expected().ready()
                    == fault.expected().restartedMessage().isEmpty();
            List<FaultRow.Said> ready = sameAfterRestart ? ready(struck) : before;
            Optional<FaultRow.Named> named = named(struck);

            long healed = System.nanoTime();
            fault.heal(node);
            Optional<Double> well = until(healed, FaultRow.HEALED, () -> well(node));
            FaultRow row =
                    new FaultRow(fault, ready, othersAge, named, reasons(struck), restarted, well, node.waiting());
            System.out.print("faults: " + row.cells());
            if (!row.good()) {
                Path kept = Files.createDirectories(Path.of("target").toAbsolutePath())
                        .resolve("faults-" + name + ".log");
                Files.writeString(
                        kept,
                        row + "\n\n" + pages + "\n\n" + log + "\n\nAfter the restart:\n\n"
                                + node.page().get("/debug/runtime").orElse("") + "\n\n"
                                + node.agent().log() + "\n\ncontainerd:\n\n"
                                + node.containerd().log());
                System.out.println("faults: " + name + " is not as it should be; see " + kept);
            }
            return row;
        }
    }

    private RealNode started(Path directory, Path kubeconfig) throws Exception {
        RealNode node = new RealNode(directory, name, kubeconfig, fault.needsDisk(), PODS);
        try {
            fault.prepare(node);
            node.startAgent(agentFlags);
            node.awaitReady(conditions);
            return node;
        } catch (Exception | Error e) {
            node.close();
            throw e;
        }
    }

    /** How old the agent's knowledge of a pod that is not hit was at most. */
    private static Optional<Double> observe(RealNode node) throws Exception {
        Optional<Double> oldest = Optional.empty();
        long end = System.nanoTime() + OBSERVED.toNanos();
        boolean overslept = false;
        while (System.nanoTime() < end) {
            Optional<Double> now = overslept ? Optional.empty() : othersAge(node);
            if (now.isPresent() && (oldest.isEmpty() || now.get() > oldest.get())) {
                oldest = now;
            }
            overslept = oversleeps(LOOK);
        }
        return oldest;
    }

    /** Sleeps, and tells whether that took so long that the machine must have stood still. */
    static boolean oversleeps(Duration length) throws InterruptedException {
        long begin = System.nanoTime();
        Thread.sleep(length.toMillis());
        return System.nanoTime() - begin > length.plus(OVERSLEPT).toNanos();
    }

    /** Empty if the agent does not answer, or does not know one of them. */
    private static Optional<Double> othersAge(RealNode node) {
        Map<String, AgentPage.PodKnowledge> known = node.page().pods();
        List<Double> ages = new ArrayList<>();
        for (Pods.RealPod pod : node.running()) {
            if (!pod.equals(node.victim())) {
                AgentPage.PodKnowledge knowledge = known.get(pod.name());
                if (knowledge == null) {
                    return Optional.empty();
                }
                ages.add(knowledge.ageSeconds());
            }
        }
        return ages.stream().max(Double::compare);
    }

    /** Kills the agent and starts it again; when it had reported and known what is expected. */
    private Optional<Double> restart(RealNode node) throws Exception {
        RuntimeFault.Expected expected = fault.expected();
        RESTARTING.acquire();
        long begin;
        try {
            node.agent().kill();
            begin = System.nanoTime();
            node.startAgent(agentFlags);
            until(
                    begin,
                    FaultRow.restartLimit(expected),
                    () -> node.page().runtime().isPresent());
        } finally {
            RESTARTING.release();
        }
        return until(
                begin,
                FaultRow.restartLimit(expected),
                () -> conditions
                                .nowSince(begin, name, Condition.READY)
                                .filter(ready -> ready.status().equals(expected.restartedStatus()))
                                .filter(ready -> ready.message().contains(expected.restartedMessage()))
                                .isPresent()
                        && (!expected.othersFresh()
                                || othersAge(node)
                                        .filter(age -> age <= FaultRow.FRESH)
                                        .isPresent()));
    }

    private boolean well(RealNode node) {
        return conditions.is(name, Condition.READY, Condition.TRUE)
                && conditions.is(name, fault.expected().condition(), Condition.FALSE)
                && node.waiting() == 0
                && othersAge(node).filter(age -> age <= FaultRow.FRESH).isPresent();
    }

    /** The changes of the Ready condition. */
    private List<FaultRow.Said> ready(long struck) {
        List<FaultRow.Said> changes = new ArrayList<>();
        String last = Condition.TRUE;
        for (ConditionLog.Entry entry : conditions.since(struck, name, Condition.READY)) {
            Condition condition = entry.condition();
            if (!condition.status().equals(last)) {
                changes.add(new FaultRow.Said(condition.status(), condition.message(), seconds(struck, entry.at())));
                last = condition.status();
            }
        }
        return changes;
    }

    /** The first time that the expected one was named. */
    private Optional<FaultRow.Named> named(long struck) {
        return conditions.since(struck, name, fault.expected().condition()).stream()
                .filter(entry -> entry.says(Condition.TRUE))
                .filter(entry -> (entry.condition().reason() + " "
                                + entry.condition().message())
                        .matches("(?s).*(" + fault.expected().named() + ").*"))
                .findFirst()
                .map(entry -> new FaultRow.Named(
                        entry.condition().reason(), entry.condition().message(), seconds(struck, entry.at())));
    }

    /** The reasons that the expected condition had since the fault, each with the time at which it appeared. */
    private List<String> reasons(long struck) {
        List<String> reasons = new ArrayList<>();
        String last = "";
        for (ConditionLog.Entry entry :
                conditions.since(struck, name, fault.expected().condition())) {
            String reason = entry.condition().status() + " " + entry.condition().reason();
            if (!reason.equals(last)) {
                reasons.add(String.format(Locale.ROOT, "%s at %.1f s", reason, seconds(struck, entry.at())));
                last = reason;
            }
        }
        return reasons;
    }

    /** Waits for {@code condition}, and tells how long after {@code begin} it held; empty if it did not within the limit. */
    private static Optional<Double> until(long begin, Duration limit, Eventually.Condition condition) throws Exception {
        while (!condition.holds()) {
            if (System.nanoTime() - begin > limit.toNanos()) {
                return Optional.empty();
            }
            Thread.sleep(100);
        }
        return Optional.of(seconds(begin, System.nanoTime()));
    }

    private static double seconds(long from, long to) {
        return (to - from) / 1e9;
    }
}
