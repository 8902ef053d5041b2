package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pleg.Pleg;
import io.nodekeeper.agent.pleg.PodStatus;
import io.nodekeeper.agent.pleg.PodStatusCache;
import io.nodekeeper.agent.pods.model.ContainerHealth;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.persistent.MountedVolumes;
import io.nodekeeper.agent.pods.probes.PodProbes;
import io.nodekeeper.agent.pods.probes.ProbeListener;
import io.nodekeeper.agent.pods.status.PodReport;
import io.nodekeeper.agent.pods.sync.Decision;
import io.nodekeeper.agent.pods.sync.Outcome;
import io.nodekeeper.agent.pods.sync.PodCommand;
import io.nodekeeper.agent.pods.sync.PodMemory;
import io.nodekeeper.agent.pods.sync.PodSync;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.agent.stats.MountedVolume;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings one pod to what is wanted: observes it, decides, carries the commands out one after another, and observes it again.
 * Meanwhile it removes what is of no use any more, one call at a time. It has no thread; while a call hangs, only this pod waits.
 * Confined to its loop.
 */
final class PodWorker {
    private static final Logger log = LoggerFactory.getLogger(PodWorker.class);
    /** The pause after an observation that failed. */
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);
    /** The pause before messages about ends are read again that could not be read. */
    private static final Duration READ_AGAIN = Duration.ofSeconds(10);

    private final PodPorts ports;
    private final PodCommands commands;
    private final PodVolumes volumes;
    private final TerminationMessages messages;
    private final PodEvents events;
    private final Pleg pleg;
    private final Readiness readiness;
    private final StatusWriter writer;
    private final PodProbes probes;
    private final Clock clock;
    /** Whether a manifest has the pod, or had it. */
    private final boolean ofManifest;

    private Wanted wanted;
    private PodMemory memory = PodMemory.EMPTY;
    /** Monotonic ns: a clock that is set back must not make the pod rest for hours. */
    private OptionalLong wakeAt = OptionalLong.empty();

    private Optional<Shown> shown = Optional.empty();
    /** When that was, monotonic ns. */
    private long shownAt;

    /** What the runtime shows counts only if it is newer than the last command. Monotonic ns. */
    private long freshAfter;

    /** Whether the status is that of the pod's end, whatever is removed of it. */
    private boolean settled;

    private boolean busy;
    private boolean again;
    /** What is being removed beside the commands. */
    private Optional<Removal> removal = Optional.empty();

    /** Whether a pod that must end has ended: nothing of it runs, or will run again. What it has left may still be removed. */
    private boolean hasEnded;

    private boolean finished;
    private boolean stopped;

    /** What the last decision was taken from. */
    private record Shown(PodStatus status, Decision decision) {}

    /** A removal under way. */
    private record Removal(PodCommand command, CompletableFuture<Outcome> outcome) {}

    /** What of the node decides whether pods are worked on now; read from memory. */
    interface Readiness {
        /** Whether the runtime works; without it only pods that are to end are worked on. */
        boolean runtime();

        /** Why pods cannot get a network; empty if they can. */
        Optional<String> networkError();

        /** The runtime's name, for ids of containers. */
        String runtimeName();
    }

    /**
     * A worker for {@code wanted} that has not looked yet.
     *
     * @param objects finds the object of a pod in the API
     * @param since a time before the first list, monotonic ns
     */
    PodWorker(
            PodPorts ports,
            Pleg pleg,
            Readiness readiness,
            Function<Pod, Optional<Pod>> objects,
            Wanted wanted,
            long since) {
        this.ports = ports;
        this.pleg = pleg;
        this.readiness = readiness;
        this.wanted = wanted;
        ofManifest = wanted.run() && !wanted.inApi();
        this.freshAfter = since;
        volumes = new PodVolumes(ports);
        messages = new TerminationMessages(ports);
        commands = new PodCommands(ports, volumes);
        events = new PodEvents(ports.events());
        writer = new StatusWriter(ports.client(), objects);
        probes = new PodProbes(ports.probes(), new ProbeListener() {
            @Override
            public void warning(String reason, String message) {
                events.warning(pod(), reason, message);
            }

            @Override
            public void changed() {
                probed();
            }
        });
        clock = ports.loop().clock();
    }

    /** The newest version of the pod. */
    Pod pod() {
        return wanted.pod();
    }

    /** Whether the pod shall run and has not ended. */
    boolean isActive() {
        return wanted.run() && !wanted.pod().isTerminal();
    }

    /** Whether everything of the pod shall end. */
    boolean mustEnd() {
        return !wanted.run();
    }

    /** Whether nothing is left of a pod that had to end. */
    boolean isFinished() {
        return finished;
    }

    /** Whether nothing of the pod runs or will run again. */
    boolean isOver() {
        return wanted.run() ? pod().isTerminal() && !busy && rests() : hasEnded;
    }

    /** Whether everything of the pod shall end, and something of it may still run. */
    boolean isEnding() {
        return !wanted.run() && !isOver();
    }

    /** Whether something of the pod runs, or will run. */
    boolean isLive() {
        return isActive() || isEnding();
    }

    /** Whether the node may end the pod, or give one that was deleted less time: once, and not one of a manifest. */
    boolean isEvictable() {
        return !ofManifest && wanted.eviction().isEmpty() && (isActive() || isEnding() && anyRuns());
    }

    /** Whether nothing of a pod that had to end is left on the node. The API may still have it. */
    boolean isGone() {
        return !wanted.run() && memory.cleaned() && rests();
    }

    /** Something else is wanted. A pod that once had to end does not run again. */
    void want(Wanted next) {
        become(wanted.then(next));
    }

    /** The node ends the pod, or gives one that was deleted less time. */
    void evict(Duration grace, Wanted.Eviction why) {
        if (wanted.eviction().isEmpty() && isLive()) {
            become(wanted.evicted(grace, why));
        }
    }

    /** A pod that must end has no more than {@code grace} for it from now on. */
    void shorten(Duration grace) {
        become(wanted.shortened(grace));
    }

    private void become(Wanted next) {
        wanted = next;
        finished = false;
        if (!wanted.run()) {
            commands.abandonStarts();
            commands.shortenStop(wanted.within(wanted.grace()));
        }
        wake();
    }

    /** From now on containers of a pod that has ended may be removed: its last status stays. */
    void settle() {
        settled = true;
    }

    /** The time has advanced. */
    void tick() {
        if (!stopped && wanted.run() && (isOver() || isManifestOver())) {
            volumes.over(pod());
        } else if (!stopped && isActive()) {
            volumes.tick(pod());
        }
        if (wakeAt.isPresent() && clock.nanoTime() - wakeAt.getAsLong() >= 0) {
            wake();
        }
    }

    /** Something may have changed. */
    void wake() {
        if (busy || stopped) {
            again = true;
            return;
        }
        again = false;
        if (isActive() && !readiness.runtime()) {
            wakeAt = OptionalLong.of(clock.nanoTime() + LOOK_AGAIN.toNanos());
            return;
        }
        busy = true;
        long since = freshAfter;
        observe().thenAccept(entry -> decide(entry, since)).whenComplete(this::goOn);
    }

    /** Its volumes, for statistics. */
    List<MountedVolume> mountedVolumes() {
        return MountedVolumes.of(pod(), volumes.paths(pod()));
    }

    /**
     * Whether a pod of a manifest has ended, whose object never says so. It runs again if the runtime forgets its containers, so it
     * keeps its cgroup and its devices.
     */
    private boolean isManifestOver() {
        return !wanted.inApi()
                && !busy
                && current().filter(last -> last.decision().over()).isPresent();
    }

    /** Removes the pod's cgroup if nothing of it runs or will run again. What fails is tried again in the next round. */
    void releaseCgroup() {
        if (wanted.run() && isOver()) {
            commands.releaseCgroup(pod());
        }
    }

    /** What was shown after the last command; empty until then. */
    private Optional<Shown> current() {
        return shown.filter(last -> shownAt - freshAfter >= 0);
    }

    /** Nothing runs, as seen after the last command. */
    private boolean rests() {
        return current()
                .filter(last -> last.status().containers().stream().noneMatch(PodWorker::runs)
                        && last.status().sandboxes().stream()
                                .noneMatch(status -> status.sandbox().ready()))
                .isPresent();
    }

    private boolean anyRuns() {
        return current()
                .filter(last -> last.status().containers().stream().anyMatch(PodWorker::runs))
                .isPresent();
    }

    /** Starts nothing more. */
    void stop() {
        stopped = true;
        probes.stop(pod());
        writer.stop();
    }

    private CompletableFuture<PodStatusCache.Entry> observe() {
        PodStatusCache cache = pleg.cache();
        String uid = wanted.pod().uid();
        boolean fresh = cache.freshAt(uid).isPresent() && cache.freshAt(uid).getAsLong() - freshAfter > 0;
        if (!fresh) {
            pleg.relistPod(uid);
        }
        return cache.getNewerThan(uid, freshAfter)
                .thenCompose(entry -> entry.error().isPresent()
                        ? CompletableFuture.completedFuture(entry)
                        : messages.with(pod(), entry.status())
                                .thenApply(status -> new PodStatusCache.Entry(status, Optional.empty())));
    }

    /** Decides from {@code entry}, which is newer than {@code since}. */
    private void decide(PodStatusCache.Entry entry, long since) {
        if (stopped) {
            return;
        }
        if (entry.error().isPresent()) {
            rest(Optional.of(LOOK_AGAIN));
            return;
        }
        PodStatus status = entry.status();
        if (isActive() && status.containers().stream().anyMatch(PodWorker::runs)) {
            volumes.found(pod());
        }
        boolean ends = !wanted.run() || wanted.pod().isTerminal();
        Map<String, ContainerHealth> health = probes.update(
                pod(), ends, status.containers(), commands.address(pod(), status.ips()), writer.last(pod()));
        if (volumes.isOver()) {
            memory = memory.unprepared();
        }
        Instant now = clock.wallTime();
        Decision decision = PodSync.step(wanted, status, memory, health, readiness.networkError(), now);
        memory = decision.memory();
        decision.events().forEach(event -> events.record(pod(), event.type(), event.reason(), event.message()));
        shown = Optional.of(new Shown(status, decision));
        shownAt = clock.nanoTime();
        hasEnded |= !wanted.run() && rests();
        report(status, decision, health);
        // What was removed since then is not removed again.
        decision.removal()
                .filter(next -> removal.isEmpty() && since == freshAfter)
                .ifPresent(next -> remove(next, status.ips()));
        if (decision.commands().isEmpty()) {
            finished = decision.finished();
            rest(pause(decision, now));
            return;
        }
        run(decision.commands(), 0, status.ips());
    }

    private Optional<Duration> pause(Decision decision, Instant now) {
        Optional<Duration> until = decision.wakeAt().map(at -> Duration.between(now, at));
        return messages.isComplete()
                ? until
                : until.filter(time -> time.compareTo(READ_AGAIN) < 0).or(() -> Optional.of(READ_AGAIN));
    }

    private void rest(Optional<Duration> pause) {
        wakeAt = pause.map(time -> OptionalLong.of(clock.nanoTime() + time.toNanos()))
                .orElseGet(OptionalLong::empty);
        busy = false;
        if (again) {
            wake();
        }
    }

    /** A probe says something new: it is reported at once, even while a command takes long. */
    private void probed() {
        if (busy) {
            shown.ifPresent(last -> report(last.status(), last.decision(), probes.health()));
        }
        wake();
    }

    /** The last status of a pod that has ended stays, though its containers are removed; of an outline nothing is known. */
    private void report(PodStatus observed, Decision decision, Map<String, ContainerHealth> health) {
        boolean ended = !wanted.run() || wanted.pod().isTerminal();
        if (settled && wanted.pod().isTerminal() || pod().isOutline()) {
            return;
        }
        boolean evicted = wanted.eviction().isPresent();
        String phase = writer.last(pod()).text("phase");
        boolean told = phase.equals(Pod.FAILED) || phase.equals(Pod.SUCCEEDED) && !evicted;
        if (ended && told && observed.containers().isEmpty() || !wanted.run() && !wanted.inApi() && !evicted) {
            return;
        }
        PodReport.Inputs inputs = new PodReport.Inputs(
                decision.waiting(), health, ports.node().get().addresses(), readiness.runtimeName(), clock.wallTime());
        writer.report(pod(), PodReport.status(wanted, observed, writer.last(pod()), inputs));
    }

    private void run(List<PodCommand> list, int index, List<String> ips) {
        if (stopped) {
            return;
        }
        if (index == list.size()) {
            next();
            return;
        }
        PodCommand command = list.get(index);
        if (!isActive() && begins(command)) {
            // It was decided before the pod had to end, and would only delay that.
            next();
            return;
        }
        Pod pod = pod();
        CompletionStage<Void> before =
                command instanceof PodCommand.DeleteFromApi ? writer.idle() : CompletableFuture.completedFuture(null);
        before.thenCompose(ready -> removal.filter(other -> other.command().equals(command))
                        .map(Removal::outcome)
                        .orElseGet(() -> commands.run(pod, command, ips)))
                .thenAccept(outcome -> {
                    memory = memory.after(command, outcome, clock.wallTime());
                    if (touchesRuntime(command)) {
                        freshAfter = clock.nanoTime();
                    }
                    if (outcome instanceof Outcome.Done) {
                        run(list, index + 1, ips);
                    } else {
                        next();
                    }
                })
                .whenComplete(this::goOn);
    }

    /** Carries {@code command} out, a removal, beside the others. */
    private void remove(PodCommand command, List<String> ips) {
        CompletableFuture<Outcome> outcome = commands.run(pod(), command, ips);
        removal = Optional.of(new Removal(command, outcome));
        outcome.thenAccept(done -> {
            removal = Optional.empty();
            memory = memory.afterRemoval(command, done, clock.wallTime());
            freshAfter = clock.nanoTime();
            wake();
        });
    }

    /** What failed in an unforeseen way is looked at again, for example because no thread could be started: else the pod would stay as it is. */
    private void goOn(@Nullable Void done, @Nullable Throwable error) {
        if (error != null) {
            log.error("pod {}: {}", wanted.pod().fullName(), Failures.text(error), error);
            rest(Optional.of(LOOK_AGAIN));
        }
    }

    private static boolean runs(ContainerStatus container) {
        return container.state() == ContainerState.RUNNING;
    }

    private void next() {
        busy = false;
        wake();
    }

    /** Whether it is for a pod that shall run. */
    private static boolean begins(PodCommand command) {
        return command instanceof PodCommand.Prepare
                || command instanceof PodCommand.CreateSandbox
                || command instanceof PodCommand.StartContainer;
    }

    private static boolean touchesRuntime(PodCommand command) {
        return switch (command) {
            case PodCommand.Prepare prepare -> false;
            case PodCommand.CleanUp clean -> false;
            case PodCommand.DeleteFromApi delete -> false;
            default -> true;
        };
    }
}
