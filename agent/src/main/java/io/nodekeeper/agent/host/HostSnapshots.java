package io.nodekeeper.agent.host;

import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.HostFacts;
import io.nodekeeper.api.Failures;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Loop;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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
    private final Needs needs;
    private HostFacts facts = HostFacts.unknown();

    /**
     * The readings that not every node needs.
     *
     * @param podMemory whether the memory of pods is read
     * @param imageMount the path of the images as the container runtime reports it; empty without a runtime
     */
    public record Needs(boolean podMemory, Supplier<Optional<Fact<Path>>> imageMount) {}

    /** Snapshots of {@code host}; nothing is known until the first {@link #refresh}. */
    public HostSnapshots(String nodeName, Host host, Loop loop, Needs needs) {
        this.nodeName = nodeName;
        this.host = host;
        this.loop = loop;
        this.needs = needs;
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
        List<CompletableFuture<Void>> readings = new ArrayList<>();
        if (facts.machine().value().isEmpty()) {
            readings.add(
                    read("machine info", READ_DEADLINE, host::machine, HostFacts::machine, HostFacts::withMachine));
        }
        readings.add(read(
                "root file system",
                READ_DEADLINE,
                host::rootFilesystem,
                HostFacts::rootFilesystem,
                HostFacts::withRootFilesystem));
        needs.imageMount()
                .get()
                .ifPresent(mount -> readings.add(read(
                        "image file system",
                        READ_DEADLINE,
                        () -> imageFilesystem(mount),
                        HostFacts::imageFilesystem,
                        HostFacts::withImageFilesystem)));
        readings.add(read("memory", READ_DEADLINE, host::workingSet, HostFacts::workingSet, HostFacts::withWorkingSet));
        if (needs.podMemory()) {
            readings.add(read(
                    "memory of pods", READ_DEADLINE, host::podMemory, HostFacts::podMemory, HostFacts::withPodMemory));
        }
        readings.add(read("process ids", READ_DEADLINE, host::pids, HostFacts::pids, HostFacts::withPids));
        readings.add(read(
                "addresses",
                RESOLVE_DEADLINE,
                () -> host.addresses(nodeName),
                HostFacts::addresses,
                HostFacts::withAddresses));
        return CompletableFuture.allOf(readings.toArray(CompletableFuture[]::new));
    }

    /** A mount point that was reported once stays valid while the runtime does not answer. */
    private CompletableFuture<Filesystem> imageFilesystem(Fact<Path> mount) {
        return mount.value()
                .map(host::filesystem)
                .orElseGet(() -> CompletableFuture.failedFuture(
                        new IOException("the container runtime reported no image file system: " + mount.error())));
    }

    private <T> CompletableFuture<Void> read(
            String what,
            Duration deadline,
            Supplier<CompletableFuture<T>> reading,
            Function<HostFacts, Fact<T>> get,
            BiFunction<HostFacts, Fact<T>, HostFacts> with) {
        CompletableFuture<T> future = Futures.start(reading);
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
}
