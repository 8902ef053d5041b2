package io.nodekeeper.agent.pods.probes;

import io.nodekeeper.agent.pods.model.ContainerHealth;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.ProbeKind;
import io.nodekeeper.agent.pods.model.ProbeSpec;
import io.nodekeeper.agent.pods.probes.ProbeTrack.Verdict;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The probes of one running container. Until the startup probe has succeeded, no other probe runs. A probe starts one period
 * after its previous one, or when that ends. After a failed startup or liveness probe the container ends, so that probe does
 * not run again. Confined to its loop.
 */
final class ContainerProbes {
    /** The longest part of a probe's output in an event; longer messages are refused by the API. */
    private static final int MOST_SHOWN = 900;

    private final ContainerSpec container;
    private final String id;
    private final Instant startedAt;
    private final boolean inherited;
    private final Map<ProbeKind, Watch> watches = new EnumMap<>(ProbeKind.class);
    /** What the pod's containers are probed with. Immutable. */
    record Context(ProbePorts ports, ProbeListener listener, Pod pod, String podIp) {}

    private Optional<Context> context = Optional.empty();
    private boolean stopped;

    /** One probe. */
    private static final class Watch {
        private ProbeTrack track;
        private boolean active;
        private Optional<Loop.Timer> timer = Optional.empty();
        private Optional<CompletableFuture<ProbeResult>> underWay = Optional.empty();

        private Watch(ProbeTrack track) {
            this.track = track;
        }

        private void stop() {
            active = false;
            timer.ifPresent(Loop.Timer::cancel);
            underWay.ifPresent(result -> result.cancel(true));
        }
    }

    private ContainerProbes(ContainerSpec container, String id, Instant startedAt, boolean inherited) {
        this.container = container;
        this.id = id;
        this.startedAt = startedAt;
        this.inherited = inherited;
    }

    /**
     * The probes of a container; none runs yet.
     *
     * @param reported its last entry in the pod's status; empty if there is none
     * @param inherited whether it ran before this agent
     */
    static ContainerProbes of(ContainerSpec container, ContainerStatus status, JsonObject reported, boolean inherited) {
        ContainerProbes probes = new ContainerProbes(
                container, status.id(), Instant.EPOCH.plusNanos(status.startedAtNanos()), inherited);
        for (ProbeKind kind : ProbeKind.values()) {
            Verdict first = switch (kind) {
                case STARTUP -> reported.bool("started") ? Verdict.SUCCESS : Verdict.UNKNOWN;
                case LIVENESS -> Verdict.SUCCESS;
                case READINESS -> reported.bool("ready") ? Verdict.SUCCESS : Verdict.FAILURE;
            };
            ProbeSpec.of(container, kind)
                    .ifPresent(spec -> probes.watches.put(kind, new Watch(ProbeTrack.of(spec, first))));
        }
        return probes;
    }

    /** Runs probes from now on; {@code ends} as in {@code PodProbes.update}. */
    void continueWith(Context newest, boolean ends) {
        boolean first = context.isEmpty();
        context = Optional.of(newest);
        if (ends) {
            watches.forEach((kind, watch) -> {
                if (kind != ProbeKind.READINESS) {
                    watch.stop();
                }
            });
        } else if (first) {
            begin();
        }
    }

    /** Starts the startup probe, or those that follow it. */
    private void begin() {
        boolean started = isStarted();
        watches.forEach((kind, watch) -> {
            if (!watch.active && started == (kind != ProbeKind.STARTUP)) {
                watch.active = true;
                schedule(watch, firstDelay(watch.track.spec()));
            }
        });
    }

    private Duration firstDelay(ProbeSpec spec) {
        Context now = context.orElseThrow();
        Duration left = Duration.between(now.ports().loop().clock().wallTime(), startedAt.plus(spec.initialDelay()));
        // The clock may have been set: never longer than the pod says.
        Duration delay = left.compareTo(spec.initialDelay()) < 0 ? left : spec.initialDelay();
        if (delay.isNegative()) {
            delay = Duration.ZERO;
        }
        // A restarted agent must not send the probes of all pods at once.
        return inherited
                ? delay.plusNanos((long)
                        (now.ports().random().nextDouble() * spec.period().toNanos()))
                : delay;
    }

    private void schedule(Watch watch, Duration delay) {
        watch.timer = Optional.of(context.orElseThrow().ports().loop().schedule(delay, () -> run(watch)));
    }

    private void run(Watch watch) {
        if (stopped || !watch.active) {
            return;
        }
        Context now = context.orElseThrow();
        ProbeSpec spec = watch.track.spec();
        long start = now.ports().loop().clock().nanoTime();
        CompletableFuture<ProbeResult> result = now.ports()
                .probes()
                .run(now.pod().uid(), new Prober.Target(id, container, now.podIp()), spec.action(), spec.timeout());
        watch.underWay = Optional.of(result);
        result.whenComplete((value, error) -> {
            watch.underWay = Optional.empty();
            if (error == null && !stopped && watch.active) {
                settle(watch, value);
            }
            if (!stopped && watch.active) {
                Duration took = Duration.ofNanos(now.ports().loop().clock().nanoTime() - start);
                schedule(watch, spec.period().minus(took));
            }
        });
    }

    private void settle(Watch watch, ProbeResult result) {
        Context now = context.orElseThrow();
        ProbeKind kind = watch.track.spec().kind();
        now.ports().metrics().probed(now.pod(), container.name(), kind, result.outcome());
        report(kind, result);
        ContainerHealth before = health();
        watch.track = watch.track.after(result);
        if (kind == ProbeKind.STARTUP && watch.track.verdict() == Verdict.SUCCESS) {
            watch.stop();
            begin();
        } else if (kind != ProbeKind.READINESS && watch.track.verdict() == Verdict.FAILURE) {
            watch.stop();
        }
        if (!health().equals(before)) {
            now.listener().changed();
        }
    }

    private void report(ProbeKind kind, ProbeResult result) {
        String text =
                result.output().length() > MOST_SHOWN ? result.output().substring(0, MOST_SHOWN) : result.output();
        ProbeListener listener = context.orElseThrow().listener();
        switch (result.outcome()) {
            case SUCCESS -> {}
            case WARNING -> listener.warning("ProbeWarning", kind.text() + " probe warning: " + text);
            case FAILURE -> listener.warning("Unhealthy", kind.text() + " probe failed: " + text);
            case ERROR ->
                listener.warning("Unhealthy", kind.text() + " probe errored and resulted in unknown state: " + text);
        }
    }

    private boolean isStarted() {
        return verdict(ProbeKind.STARTUP) == Verdict.SUCCESS;
    }

    /** A probe that the container does not have has succeeded. */
    private Verdict verdict(ProbeKind kind) {
        Watch watch = watches.get(kind);
        return watch == null ? Verdict.SUCCESS : watch.track.verdict();
    }

    /** What the probes say now. */
    ContainerHealth health() {
        Optional<ProbeSpec> failed = watches.values().stream()
                .map(watch -> watch.track)
                .filter(track -> track.spec().kind() != ProbeKind.READINESS && track.verdict() == Verdict.FAILURE)
                .map(ProbeTrack::spec)
                .findFirst();
        boolean started = isStarted();
        return new ContainerHealth(started, started && verdict(ProbeKind.READINESS) == Verdict.SUCCESS, failed);
    }

    /** Ends the probes. */
    void stop() {
        stopped = true;
        watches.values().forEach(Watch::stop);
    }
}
