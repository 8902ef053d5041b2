package io.nodekeeper.agent.runtime;

import io.nodekeeper.agent.culprit.CulpritWatch;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.facts.ReadyErrors;
import io.nodekeeper.agent.facts.RuntimeFacts;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.network.NetworkProbe;
import io.nodekeeper.agent.pleg.Pleg;
import io.nodekeeper.agent.pleg.StuckPod;
import io.nodekeeper.cri.ContainerEvent;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.ImageFilesystem;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeStatus;
import io.nodekeeper.cri.RuntimeVersion;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Combines all parts that watch the container runtime: status, version and images, its pods, culprits, and the pod
 * network. Each part calls the runtime by itself and waits for no other part; the status reads their last results.
 * Confined to its loop.
 */
public final class RuntimeWatch implements RuntimeView {
    private static final Logger log = LoggerFactory.getLogger(RuntimeWatch.class);
    /** Kubernetes' period of runtime checks. */
    private static final Duration STATUS_PERIOD = Duration.ofSeconds(5);
    /**
     * A healthy runtime answers in milliseconds; six calls of 5 s fit into the 30 s after which a runtime counts as
     * down.
     */
    private static final Duration STATUS_DEADLINE = Duration.ofSeconds(5);
    /**
     * The version changes only when the runtime is replaced; one minute bounds how long the Node shows the old one.
     */
    private static final Duration VERSION_PERIOD = Duration.ofSeconds(60);
    /** Kubernetes' period of image lists. */
    private static final Duration IMAGES_PERIOD = Duration.ofSeconds(30);
    /** A list of some hundred images takes seconds on a busy disk; a third of the period leaves room for a retry. */
    private static final Duration IMAGES_DEADLINE = Duration.ofSeconds(10);
    /** The place of the images changes only when the runtime is configured again, as its version does. */
    private static final Duration FILESYSTEMS_PERIOD = Duration.ofSeconds(60);
    /**
     * Some errors appear only because time passes, so the result is compared with the reported one every second: a
     * change reaches the API 1 s late at most.
     */
    private static final Duration PULSE = Duration.ofSeconds(1);
    /** After a start the node may stay Ready for 10 s, one status period, while first answers are missing. */
    private static final Duration HOLD = Duration.ofSeconds(10);

    private final Loop loop;
    private final ContainerRuntime runtime;
    private final Pleg pleg;
    private final Optional<CulpritWatch> culprits;
    private final Optional<EventHints> events;
    private final Optional<Duration> liveVersion;
    private final Optional<NetworkProbe> network;
    private final RandomGenerator random;
    private final PolledCall<RuntimeStatus> status;
    private final PolledCall<RuntimeVersion> version;
    private final PolledCall<List<Image>> images;
    private final PolledCall<List<ImageFilesystem>> filesystems;
    private final StartupSteps steps;
    private final PodCidr podCidr;
    private final LoopMonitor.Beat pulseBeat;
    private final LoopMonitor.Beat plegBeat;
    private long plegSeen;
    private final Optional<LoopMonitor.Beat> culpritBeat;
    private long culpritsSeen;
    private final List<Periodic> loops = new ArrayList<>();
    private final long createdAt;
    private RuntimeState state = RuntimeState.UNKNOWN;
    private Runnable onNews = () -> {};
    private Optional<Shown> shown = Optional.empty();

    /** The parts of the result whose change triggers an early report. */
    private record Shown(boolean ready, Optional<RuntimeVersion> version, List<ConditionReport> conditions) {}

    /**
     * The parts of a watch.
     *
     * @param culprits empty if the gate RuntimeCulprits is off
     * @param network empty if the pod network is not probed
     * @param events whether to subscribe to the runtime's events
     * @param liveVersion the deadline of a version call before each status, as in Kubernetes; empty for none
     */
    public record Parts(
            ContainerRuntime runtime,
            Pleg pleg,
            Optional<CulpritWatch> culprits,
            Optional<NetworkProbe> network,
            boolean events,
            Optional<Duration> liveVersion) {}

    /** A watch that is not started yet. */
    public RuntimeWatch(Loop loop, Parts parts, LoopMonitor watch, RandomGenerator random) {
        this.loop = loop;
        this.random = random;
        runtime = parts.runtime();
        pleg = parts.pleg();
        culprits = parts.culprits();
        network = parts.network();
        liveVersion = parts.liveVersion();
        events = parts.events() ? Optional.of(new EventHints(runtime, loop, hints(pleg))) : Optional.empty();
        createdAt = loop.clock().nanoTime();
        LoopMonitor.Beat statusBeat = watch.loop("runtime", STATUS_PERIOD);
        pulseBeat = watch.loop("runtime-pulse", PULSE);
        plegBeat = watch.loop("pleg", PULSE);
        plegSeen = pleg.lastBeat();
        culpritBeat = culprits.map(patrol -> watch.loop("culprits", STATUS_PERIOD));
        status = new PolledCall<>(
                "runtime status",
                runtime,
                new RuntimeCall.GetStatus(),
                STATUS_DEADLINE,
                STATUS_PERIOD,
                loop,
                answer -> state = state.answered(answer, loop.clock().nanoTime()),
                statusBeat::beat);
        version = new PolledCall<>(
                "runtime version",
                runtime,
                new RuntimeCall.GetVersion(),
                STATUS_DEADLINE,
                VERSION_PERIOD,
                loop,
                answer -> {},
                () -> {});
        images = new PolledCall<>(
                "image list",
                runtime,
                new RuntimeCall.ListImages(),
                IMAGES_DEADLINE,
                IMAGES_PERIOD,
                loop,
                answer -> {},
                () -> {});
        filesystems = new PolledCall<>(
                "image file systems",
                runtime,
                new RuntimeCall.GetImageFilesystems(),
                IMAGES_DEADLINE,
                FILESYSTEMS_PERIOD,
                loop,
                answer -> {},
                () -> {});
        steps = new StartupSteps(loop.clock()).add(status).add(version).add("pod list", pleg.firstRelist());
        podCidr = new PodCidr(runtime);
    }

    private static EventHints.Listener hints(Pleg pleg) {
        return new EventHints.Listener() {
            @Override
            public void opened() {
                pleg.eventsOpened();
            }

            @Override
            public void heard(ContainerEvent event) {
                pleg.hint(event);
            }

            @Override
            public void ended() {
                pleg.eventsEnded();
            }
        };
    }

    /** Starts all parts. */
    public void start() {
        loop.execute(() -> {
            status.ask();
            version.ask();
            images.ask();
            filesystems.ask();
            pleg.start();
            culprits.ifPresent(CulpritWatch::start);
            events.ifPresent(EventHints::start);
            network.ifPresent(NetworkProbe::start);
            loops.add(Periodic.start("runtime pulse", loop, PULSE, 0, random, this::pulse));
        });
    }

    /** Stops all parts. */
    public void stop() {
        loop.execute(() -> {
            status.stop();
            version.stop();
            images.stop();
            filesystems.stop();
            pleg.stop();
            culprits.ifPresent(CulpritWatch::stop);
            events.ifPresent(EventHints::stop);
            network.ifPresent(NetworkProbe::stop);
            loops.forEach(Periodic::stop);
        });
    }

    @Override
    public RuntimeFacts facts() {
        return new RuntimeFacts(
                versionText(),
                images.fact(),
                status.fact().value().map(RuntimeStatus::handlers).orElse(List.of()),
                status.fact().value().flatMap(RuntimeStatus::supplementalGroupsPolicy));
    }

    /** Of several file systems the first, as Kubernetes does. */
    @Override
    public Optional<Fact<Path>> imageMount() {
        Fact<List<ImageFilesystem>> fact = filesystems.fact();
        Optional<Path> first = fact.value()
                .flatMap(list -> list.stream()
                        .map(ImageFilesystem::mountPoint)
                        .filter(path -> path.startsWith("/"))
                        .map(Path::of)
                        .findFirst());
        String error = fact.error().isEmpty() && first.isEmpty() ? "its list has no absolute path" : fact.error();
        return Optional.of(new Fact<>(first, fact.observedAt(), error));
    }

    /** The file system of the images as the runtime last reported it; of several the first. */
    Fact<ImageFilesystem> imageFilesystem() {
        Fact<List<ImageFilesystem>> fact = filesystems.fact();
        return new Fact<>(fact.value().flatMap(list -> list.stream().findFirst()), fact.observedAt(), fact.error());
    }

    @Override
    public ReadyErrors errors() {
        List<String> errors = state.runtimeErrors(loop.clock().nanoTime(), pleg.unhealthy());
        steps.late(() -> Stream.concat(culprits().stream(), loads().stream())
                        .map(Culprit::summary)
                        .findFirst())
                .forEach(errors::add);
        return new ReadyErrors(errors, state.networkError().map(List::of).orElse(List.of()), List.of(), List.of());
    }

    @Override
    public boolean starting() {
        boolean nothingBad = state.runtimeError().isEmpty()
                && (state.networkError().isEmpty() || state.lastSync().isEmpty());
        return nothingBad && loop.clock().nanoTime() - createdAt < HOLD.toNanos();
    }

    @Override
    public CompletableFuture<Void> known() {
        return CompletableFuture.allOf(status.tried(), version.tried(), images.tried(), pleg.firstRelist());
    }

    @Override
    public List<ConditionReport> conditions() {
        List<ConditionReport> conditions = new ArrayList<>();
        culprits.ifPresent(watch -> conditions.add(watch.condition()));
        network.ifPresent(probe -> conditions.add(probe.condition()));
        return conditions;
    }

    @Override
    public CompletableFuture<Void> beforeReport() {
        return liveVersion
                .map(deadline ->
                        runtime.call(new RuntimeCall.GetVersion(), deadline).<Void>handle((answer, error) -> null))
                .orElseGet(() -> CompletableFuture.completedFuture(null));
    }

    /** What hangs now. */
    public List<Culprit> culprits() {
        return culprits.map(CulpritWatch::culprits).orElse(List.of());
    }

    /** The loads that may explain late calls now. */
    List<Culprit> loads() {
        return culprits.map(CulpritWatch::loads).orElse(List.of());
    }

    /** The pods whose inspections time out, the longest first. */
    public List<StuckPod> stuck() {
        return pleg.stuck();
    }

    /** The age of the last list of pods; empty if there was none yet. */
    public Optional<Duration> listAge() {
        return pleg.firstRelist().isDone() ? Optional.of(pleg.lastListAge()) : Optional.empty();
    }

    /** The time since the runtime last reported that it is ready; empty if it never did. */
    public Optional<Duration> statusAge() {
        return state.lastSync().isPresent()
                ? Optional.of(Duration.ofNanos(
                        loop.clock().nanoTime() - state.lastSync().getAsLong()))
                : Optional.empty();
    }

    @Override
    public void podCidr(String cidr) {
        podCidr.set(cidr);
    }

    @Override
    public void onNews(Runnable listener) {
        onNews = listener;
    }

    /** Kubernetes' form; a runtime that does not answer has an unknown version. */
    private String versionText() {
        String name = version.fact().value().map(RuntimeVersion::name).orElse("unknown");
        return name + "://"
                + version.fact()
                        .current()
                        .flatMap(answer -> VersionText.of(answer.version()))
                        .orElse("Unknown");
    }

    private CompletableFuture<Void> pulse() {
        pulseBeat.beat();
        if (pleg.lastBeat() != plegSeen) {
            plegSeen = pleg.lastBeat();
            plegBeat.beat();
        }
        culprits.map(CulpritWatch::lastBeat)
                .filter(beat -> beat != culpritsSeen)
                .ifPresent(beat -> {
                    culpritsSeen = beat;
                    culpritBeat.ifPresent(LoopMonitor.Beat::beat);
                });
        Shown now = new Shown(errors().isEmpty(), version.fact().current(), conditions());
        if (shown.isPresent() && !shown.get().equals(now)) {
            log.debug("The runtime's state changed: {}", now);
            onNews.run();
        }
        shown = Optional.of(now);
        return CompletableFuture.completedFuture(null);
    }
}
