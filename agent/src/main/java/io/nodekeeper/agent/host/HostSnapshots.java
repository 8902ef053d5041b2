package io.nodekeeper.agent.host;

import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.facts.HostFacts;
import io.nodekeeper.api.Failures;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the newest facts about a host. Each reading has its own deadline, so that a hung disk or resolver delays
 * only its own fact. Confined to its loop.
 */
public final class HostSnapshots {
    private static final Logger log = LoggerFactory.getLogger(HostSnapshots.class);
    /** The timeout that cAdvisor uses for statfs; files of /proc and /sys answer in microseconds. */
    private static final Duration READ_DEADLINE = Duration.ofSeconds(2);
    /** The default timeout of a resolver's first query (resolv.conf: 5 s). */
    private static final Duration RESOLVE_DEADLINE = Duration.ofSeconds(5);

    private final String nodeName;
    private final Host host;
    private final Loop loop;
    private HostFacts facts = HostFacts.unknown();

    public HostSnapshots(String nodeName, Host host, Loop loop) {
        this.nodeName = nodeName;
        this.host = host;
        this.loop = loop;
    }

    /** The newest facts. */
    public HostFacts facts() {
        return facts;
    }

    /**
     * Reads all facts again, except the machine once it is known; completes when each reading has completed or timed
     * out.
     */
    public CompletableFuture<Void> refresh() {
        CompletableFuture<Void> machine = facts.machine().value().isPresent()
                ? CompletableFuture.completedFuture(null)
                : read(
                        "machine info",
                        READ_DEADLINE,
                        host::machine,
                        HostFacts::machine,
                        (all, fact) -> new HostFacts(
                                fact, all.rootFilesystem(), all.workingSet(), all.pids(), all.addresses()));
        return CompletableFuture.allOf(
                machine,
                read(
                        "root file system",
                        READ_DEADLINE,
                        host::rootFilesystem,
                        HostFacts::rootFilesystem,
                        (all, fact) ->
                                new HostFacts(all.machine(), fact, all.workingSet(), all.pids(), all.addresses())),
                read(
                        "memory",
                        READ_DEADLINE,
                        host::workingSet,
                        HostFacts::workingSet,
                        (all, fact) ->
                                new HostFacts(all.machine(), all.rootFilesystem(), fact, all.pids(), all.addresses())),
                read(
                        "process ids",
                        READ_DEADLINE,
                        host::pids,
                        HostFacts::pids,
                        (all, fact) -> new HostFacts(
                                all.machine(), all.rootFilesystem(), all.workingSet(), fact, all.addresses())),
                read(
                        "addresses",
                        RESOLVE_DEADLINE,
                        () -> host.addresses(nodeName),
                        HostFacts::addresses,
                        (all, fact) -> new HostFacts(
                                all.machine(), all.rootFilesystem(), all.workingSet(), all.pids(), fact)));
    }

    private <T> CompletableFuture<Void> read(
            String what,
            Duration deadline,
            Supplier<CompletableFuture<T>> reading,
            Function<HostFacts, Fact<T>> get,
            BiFunction<HostFacts, Fact<T>, HostFacts> with) {
        CompletableFuture<T> future = start(reading);
        Consumer<Fact<T>> store = fact -> {
            String before = get.apply(facts).error();
            facts = with.apply(facts, fact);
            if (!fact.error().isEmpty() && !fact.error().equals(before)) {
                log.warn("{}: cannot read {}: {}", nodeName, what, fact.error());
            } else if (fact.error().isEmpty() && !before.isEmpty()) {
                log.debug("{}: {} read", nodeName, what);
            }
        };
        if (future.isDone()) {
            // Simulated hosts answer immediately; thousands of them need no timer.
            settle(future, get, store);
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        CompletableFuture<T> timed = Deadlines.within(loop, deadline, nodeName + ": " + what, future);
        timed.whenComplete((value, error) -> loop.execute(() -> {
            settle(timed, get, store);
            done.complete(null);
        }));
        return done;
    }

    private <T> void settle(CompletableFuture<T> future, Function<HostFacts, Fact<T>> get, Consumer<Fact<T>> store) {
        if (future.isCompletedExceptionally()) {
            store.accept(get.apply(facts).failed(Failures.text(future.exceptionNow())));
        } else {
            store.accept(Fact.of(future.join(), loop.clock().nanoTime()));
        }
    }

    private static <T> CompletableFuture<T> start(Supplier<CompletableFuture<T>> reading) {
        try {
            return reading.get();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
