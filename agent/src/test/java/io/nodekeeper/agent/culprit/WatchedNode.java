package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.calls.CallTracker;
import io.nodekeeper.agent.calls.OperationListener;
import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Wait;
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
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/** A node with the pods web and db whose runtime is watched in virtual time; a test chooses what is late and what is seen. */
final class WatchedNode {
    /** A scan looks into commands of this age and more, even if nothing is late. */
    private static final Duration UNUSUAL = Duration.ofSeconds(2);

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
                (ids, deep) -> scan(deep),
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

    /** A scan shows what was there when it began. */
    private CompletableFuture<List<ProcessInfo>> scan(boolean deep) {
        List<ProcessInfo> now = deep
                ? processes.get()
                : processes.get().stream().map(WatchedNode::shallow).toList();
        return scanTakes
                .get()
                .map(takes -> Deadlines.sleep(loop, takes).thenApply(done -> now))
                .orElseGet(() -> CompletableFuture.failedFuture(new IllegalStateException("the scan took too long")));
    }

    /** What a scan reads while nothing is late. */
    private static ProcessInfo shallow(ProcessInfo info) {
        boolean command = info.role() == ProcessRole.CNI_PLUGIN || info.role() == ProcessRole.OCI_RUNTIME;
        if (info.role() == ProcessRole.OUTSIDER
                || (command || info.role() == ProcessRole.HELPER) && info.age().compareTo(UNUSUAL) >= 0) {
            return info;
        }
        boolean runtime = info.role() == ProcessRole.RUNTIME;
        boolean looked = info.state() == 'D' || info.state() == 't';
        return new ProcessInfo(
                info.ref(),
                info.parent(),
                info.state(),
                info.age(),
                info.role(),
                info.own(),
                info.verb(),
                info.ids(),
                info.pod(),
                looked || runtime || info.state() == 'Z' ? info.stalls() : List.of(),
                info.cpu(),
                looked
                        ? info.waits()
                        : runtime
                                ? info.waits().stream()
                                        .filter(wait -> wait instanceof Wait.Frozen || wait instanceof Wait.Traced)
                                        .toList()
                                : List.of(),
                info.limits(),
                Optional.empty(),
                Map.of(),
                looked);
    }
}
