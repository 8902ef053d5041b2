package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.containers.DownwardFields;
import io.nodekeeper.agent.pods.containers.NodeSettings;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.VolumeKind;
import io.nodekeeper.agent.pods.objects.ObjectCache;
import io.nodekeeper.agent.pods.objects.PodTokens;
import io.nodekeeper.agent.pods.objects.VolumeReads;
import io.nodekeeper.agent.pods.persistent.PersistentVolumes;
import io.nodekeeper.agent.pods.volumes.PodFiles;
import io.nodekeeper.agent.pods.volumes.VolumeContents;
import io.nodekeeper.api.Failures;
import io.nodekeeper.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The volumes of one pod: made before its first container, updated beside its worker, removed at its end. One of these at a
 * time; an update that hangs delays no container of the pod. Confined to the loop of its ports.
 */
final class PodVolumes {
    /**
     * The time between updates, the kubelet's syncFrequency. With the age of what is read, a change reaches the files within
     * 70 s; a change of the pod's labels or annotations brings all changes at once.
     */
    static final Duration PERIOD = Duration.ofMinutes(1);
    /** The least pause between two attempts to unmount the volumes of a pod that has ended. */
    private static final Duration RELEASE_AGAIN = Duration.ofSeconds(10);
    /** An agent that restarts spreads the first updates of its pods over this many seconds. */
    private static final int SPREAD = 10;

    private final PodPorts ports;
    private final PodEvents events;
    private final PodTokens tokens;
    private final Clock clock;
    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);
    /** Whether the volumes were made, by this agent or an earlier one. */
    private boolean there;
    /** Monotonic ns. */
    private long updateAt;

    private Metadata written = new Metadata(Map.of(), Map.of());
    /** Where the persistent volumes are, by name. */
    private Map<String, Path> persistent = Map.of();

    private boolean ending;
    /** Whether nothing of a pod that has ended is mounted any more. */
    private boolean released;
    /** The next attempt at the earliest, monotonic ns. */
    private Optional<Long> releaseAt = Optional.empty();

    /** What of a pod may change and be in its volumes. */
    private record Metadata(Map<String, String> labels, Map<String, String> annotations) {
        private static Metadata of(Pod pod) {
            return new Metadata(pod.labels(), pod.annotations());
        }
    }

    PodVolumes(PodPorts ports) {
        this.ports = ports;
        events = new PodEvents(ports.events());
        tokens = new PodTokens(ports.client());
        clock = ports.loop().clock();
    }

    /** Makes the directories and volumes; keeps what is there. */
    CompletableFuture<Void> prepare(Pod pod) {
        return next(() -> ports.persistent().prepare(pod, () -> !ending).thenCompose(mounted -> prepare(pod, mounted)));
    }

    private CompletableFuture<Void> prepare(Pod pod, List<PersistentVolumes.Prepared> mounted) {
        return read(pod, ObjectCache.NEW).thenCompose(result -> {
            if (!result.errors().isEmpty()) {
                return CompletableFuture.failedFuture(result.errors().getFirst());
            }
            PodFiles.Contents contents = contents(result);
            return ports.onVolumes(pod, "volumes of " + pod.fullName(), () -> {
                        ports.files().prepare(pod, contents);
                        return PersistentPaths.of(pod, mounted, ports.files());
                    })
                    .thenAccept(paths -> {
                        persistent = paths;
                        there = true;
                        updateAt = clock.nanoTime() + PERIOD.toNanos();
                        written = Metadata.of(pod);
                    });
        });
    }

    /** Where each volume is, by its name; to be called after {@link #prepare}. */
    Map<String, Path> paths(Pod pod) {
        Map<String, Path> paths = new HashMap<>(ports.files().volumes(pod));
        paths.putAll(persistent);
        return paths;
    }

    /** The pod must end: waits for its volumes end, too. */
    void abandon() {
        ending = true;
    }

    /** Containers of the pod run: its volumes are there, also if an earlier agent made them. */
    void found(Pod pod) {
        if (!there) {
            there = true;
            long spread = Math.floorMod(pod.uid().hashCode(), SPREAD);
            updateAt = clock.nanoTime() + Duration.ofSeconds(spread).toNanos();
            written = Metadata.of(pod);
        }
    }

    /** Starts an update if it is time; does not wait for it. */
    void tick(Pod pod) {
        Metadata metadata = Metadata.of(pod);
        boolean changed = !metadata.equals(written);
        boolean any = isFromApi(pod) || PersistentVolumes.hasAny(pod);
        if (!there || !last.isDone() || (!changed && clock.nanoTime() - updateAt < 0) || !any) {
            return;
        }
        written = metadata;
        updateAt = clock.nanoTime() + PERIOD.toNanos();
        Duration age = changed ? ObjectCache.NEW : ObjectCache.RECENT;
        next(() -> update(pod, age).thenCompose(done -> ports.persistent().refresh(pod)))
                .whenComplete((done, error) -> {
                    if (error != null) {
                        events.warning(pod, "FailedMount", Failures.text(error));
                    }
                });
    }

    /** Nothing of the pod will run again, but it stays in the API: others may have its persistent volumes. */
    void over(Pod pod) {
        long now = clock.nanoTime();
        boolean due = releaseAt.filter(at -> now - at < 0).isEmpty();
        if (released || !due || !last.isDone() || !PersistentVolumes.hasAny(pod)) {
            return;
        }
        releaseAt = Optional.of(now + RELEASE_AGAIN.toNanos());
        next(() -> unmount(pod)).whenComplete((done, error) -> {
            if (error == null) {
                released = true;
                ports.persistent().release(pod.uid());
            } else {
                events.warning(pod, "FailedUnMount", Failures.text(error));
            }
        });
    }

    /** Removes the pod's directories, volumes and logs. */
    CompletableFuture<Void> remove(Pod pod) {
        there = false;
        return next(() -> unmount(pod)
                .thenCompose(done -> onRemoval(
                        pod,
                        "directories of " + pod.fullName(),
                        () -> ports.files().remove(pod.uid())))
                .thenAccept(done -> ports.persistent().release(pod.uid())));
    }

    private CompletableFuture<Void> unmount(Pod pod) {
        return onRemoval(
                        pod,
                        "parts of volumes of " + pod.fullName(),
                        () -> ports.files().removeParts(pod.uid()))
                .thenCompose(done -> ports.persistent().unmount(pod));
    }

    private interface DiskWork {
        void run() throws IOException;
    }

    private CompletableFuture<?> onRemoval(Pod pod, String what, DiskWork work) {
        return ports.onRemoval(pod, what, () -> {
            work.run();
            return "";
        });
    }

    private CompletableFuture<Void> update(Pod pod, Duration age) {
        return read(pod, age).thenCompose(result -> {
            PodFiles.Contents contents = contents(result);
            // These are files of the node's own, so not a matter of the host's paths.
            return ports.onDisk("volumes of " + pod.fullName(), () -> {
                        ports.files().update(pod, contents);
                        return "";
                    })
                    .thenAccept(done -> result.errors().stream().findFirst().ifPresent(error -> {
                        throw error;
                    }));
        });
    }

    private CompletableFuture<VolumeContents.Result> read(Pod pod, Duration age) {
        return VolumeReads.of(pod, ports.objects(), tokens, age)
                .thenApply(objects -> VolumeContents.of(
                        pod, objects, new DownwardFields(pod, ports.node().get(), List.of())));
    }

    private PodFiles.Contents contents(VolumeContents.Result result) {
        NodeSettings node = ports.node().get();
        return new PodFiles.Contents(result.files(), node.allocatableMemory(), clock.wallTime());
    }

    private static boolean isFromApi(Pod pod) {
        return pod.spec()
                .array("volumes")
                .objects()
                .anyMatch(volume ->
                        VolumeKind.of(volume).filter(VolumeKind::isFromApi).isPresent());
    }

    private CompletableFuture<Void> next(Supplier<CompletableFuture<Void>> work) {
        last = last.handle((done, error) -> work.get()).thenCompose(started -> started);
        return last;
    }
}
