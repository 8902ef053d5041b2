package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.calls.CallTracker;
import io.nodekeeper.agent.calls.OperationListener;
import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/** A node with the pods web and db whose runtime is watched in virtual time; a test chooses what is late and what is seen. */
final class WatchedNode {
    final VirtualTime time = new VirtualTime(Instant.parse("2026-11-21T18:00:00Z"));
    final VirtualTime.VirtualLoop loop = time.loop("agent");
    final FakeRuntime runtime = new FakeRuntime(loop);
    /** Each culprit as {@code SECOND found REASON} or {@code SECOND cleared REASON}. */
    final List<String> heard = new ArrayList<>();

    Function<RuntimeCall<?>, Optional<Duration>> delay = call -> Optional.of(Duration.ofMillis(1));
    Supplier<ContainerIndex> workload = () -> ProcessFixtures.WORKLOAD;
    Supplier<List<ProcessInfo>> processes = ProcessFixtures::healthy;
    Supplier<Optional<Duration>> scanTakes = () -> Optional.of(Duration.ZERO);

    final CallTracker calls =
            new CallTracker(new DelayedRuntime(runtime, loop, call -> delay.apply(call)), loop, OperationListener.NONE);
    final CulpritWatch watch;

    WatchedNode(long seed) {
        watch = new CulpritWatch(
                calls,
                calls,
                () -> workload.get(),
                (ids, deep) -> scan(),
                "/run/c.sock",
                loop,
                Randoms.seeded(seed),
                new CulpritListener() {
                    @Override
                    public void found(Culprit culprit) {
                        heard.add(seconds() + " found " + culprit.reason());
                    }

                    @Override
                    public void cleared(Culprit culprit) {
                        heard.add(seconds() + " cleared " + culprit.reason());
                    }
                });
        runtime.sandbox(ProcessFixtures.WEB, "w1", true);
        runtime.sandbox(ProcessFixtures.DB, "d1", true);
        runtime.container(ProcessFixtures.WEB_APP, "w1", "app", ContainerState.RUNNING);
        runtime.container(ProcessFixtures.DB_APP, "d1", "postgres", ContainerState.RUNNING);
    }

    long seconds() {
        return time.elapsed().toSeconds();
    }

    /** Lets time pass in small steps, with a check after each. */
    void pass(Duration duration, Runnable check) {
        for (long step = 0; step < duration.toMillis(); step += 500) {
            time.advance(Duration.ofMillis(500));
            check.run();
        }
    }

    /** The reasons that were found, without the seconds. */
    List<String> found() {
        return heard.stream()
                .filter(line -> line.contains(" found "))
                .map(line -> line.substring(line.lastIndexOf(' ') + 1))
                .toList();
    }

    private CompletableFuture<List<ProcessInfo>> scan() {
        return scanTakes
                .get()
                .map(takes -> Deadlines.sleep(loop, takes).thenApply(done -> processes.get()))
                .orElseGet(() -> CompletableFuture.failedFuture(new IllegalStateException("the scan took too long")));
    }
}
