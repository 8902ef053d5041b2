package io.nodekeeper.agent.pods.sources;

import io.nodekeeper.agent.config.StaticPodConfig;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Failures;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.Loop;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pods that the node itself is told to run, by files or a URL, without the API server. Each source is read when it changes
 * and at intervals, one read at a time; a source that hangs or fails keeps what it had and delays no other one. Confined to
 * its loop.
 */
public final class StaticPods {
    private static final Logger log = LoggerFactory.getLogger(StaticPods.class);
    /** The annotation with the time at which the node saw the pod first. */
    private static final String SEEN = "kubernetes.io/config.seen";

    private final List<Source> sources;
    private final BlockingCalls disk;
    private final Loop loop;
    private final Consumer<Pod> changed;
    /** By UID, with the time at which they were seen. As many as the sources have. */
    private Map<String, Pod> pods = new LinkedHashMap<>();

    private final Set<String> twice = new HashSet<>();
    private boolean stopped;

    private static final class Source {
        final ManifestSource manifests;
        final Duration period;
        List<Pod> pods = List.of();
        String fault = "";
        boolean seen;
        boolean busy;
        /** Monotonic ns. */
        long next;

        Source(ManifestSource manifests, Duration period, long next) {
            this.manifests = manifests;
            this.period = period;
            this.next = next;
        }
    }

    /** Pods of {@code settings} that are not read yet; {@code changed} gets each pod that came, changed or went. */
    public StaticPods(StaticPodConfig settings, String node, BlockingCalls disk, Loop loop, Consumer<Pod> changed) {
        this.disk = disk;
        this.loop = loop;
        this.changed = changed;
        long now = loop.clock().nanoTime();
        List<Source> all = new ArrayList<>();
        settings.path()
                .ifPresent(
                        path -> all.add(new Source(new ManifestFiles(path, node), settings.fileCheckFrequency(), now)));
        settings.url()
                .ifPresent(url -> all.add(new Source(
                        new ManifestUrl(url, settings.urlHeaders(), node), settings.httpCheckFrequency(), now)));
        sources = List.copyOf(all);
    }

    /** To be called about each second. */
    public void tick() {
        long now = loop.clock().nanoTime();
        for (Source source : sources) {
            if (!stopped && !source.busy && (source.next - now <= 0 || source.manifests.changed())) {
                source.busy = true;
                source.next = now + source.period.toNanos();
                AtomicBoolean begun = new AtomicBoolean();
                disk.call(
                                "static pods of " + source.manifests.name(),
                                source.manifests.deadline(),
                                () -> read(source, begun))
                        .whenComplete((read, error) -> loop.execute(() -> done(source, begun.get(), read, error)));
            }
        }
    }

    /** On a thread for it. While it hangs, also beyond the deadline, the source is not read a second time. */
    private List<Pod> read(Source source, AtomicBoolean begun) throws IOException {
        begun.set(true);
        try {
            return source.manifests.read();
        } finally {
            loop.execute(() -> source.busy = false);
        }
    }

    /** Reads nothing more. */
    public void stop() {
        stopped = true;
        sources.forEach(source -> source.manifests.close());
    }

    /** Whether each source was read once. Before that, a pod that is not known may exist. */
    public boolean seen() {
        return sources.stream().allMatch(source -> source.seen);
    }

    /** The pod with that UID. */
    public Optional<Pod> pod(String uid) {
        return Optional.ofNullable(pods.get(uid));
    }

    /** All static pods. */
    public List<Pod> pods() {
        return List.copyOf(pods.values());
    }

    private void done(Source source, boolean begun, @Nullable List<Pod> read, @Nullable Throwable error) {
        source.busy &= begun;
        if (stopped) {
            return;
        }
        if (read == null) {
            String fault = error == null ? "" : Failures.text(error);
            if (!fault.equals(source.fault)) {
                log.warn("Static pods of {} cannot be read; they stay as they are: {}", source.manifests.name(), fault);
            }
            source.fault = fault;
            return;
        }
        source.fault = "";
        source.seen = true;
        source.pods = read;
        merge();
    }

    private void merge() {
        Map<String, Pod> now = new LinkedHashMap<>();
        Set<String> names = new HashSet<>();
        for (Source source : sources) {
            for (Pod pod : source.pods) {
                if (!now.containsKey(pod.uid()) && names.add(pod.fullName())) {
                    now.put(pod.uid(), stamped(pod));
                } else if (twice.size() < ManifestFiles.MOST_FILES && twice.add(pod.uid() + pod.fullName())) {
                    log.warn("Two manifests are of a static pod {}; the first one counts", pod.fullName());
                }
            }
        }
        Map<String, Pod> before = pods;
        pods = now;
        before.values().stream().filter(pod -> !now.containsKey(pod.uid())).forEach(changed);
        now.values().stream().filter(pod -> !pod.equals(before.get(pod.uid()))).forEach(changed);
    }

    /** The pod as it is known already if it has not changed, else with the time of now. */
    private Pod stamped(Pod pod) {
        return Optional.ofNullable(pods.get(pod.uid()))
                .filter(known -> unstamped(known).equals(pod))
                .orElseGet(() -> new Pod(pod.json()
                        .update(
                                "metadata",
                                metadata -> metadata.update(
                                        "annotations",
                                        annotations -> annotations.with(
                                                SEEN, loop.clock().wallTime().toString())))));
    }

    private static Pod unstamped(Pod pod) {
        return new Pod(pod.json()
                .update(
                        "metadata",
                        metadata -> metadata.update("annotations", annotations -> annotations.without(SEEN))));
    }
}
