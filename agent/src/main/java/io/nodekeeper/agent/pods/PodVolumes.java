package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.containers.DownwardFields;
import io.nodekeeper.agent.pods.containers.NodeSettings;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.VolumeKind;
import io.nodekeeper.agent.pods.objects.ObjectCache;
import io.nodekeeper.agent.pods.objects.PodTokens;
import io.nodekeeper.agent.pods.objects.VolumeReads;
import io.nodekeeper.agent.pods.persistent.HostPlaces;
import io.nodekeeper.agent.pods.persistent.PersistentVolumes;
import io.nodekeeper.agent.pods.volumes.PodFiles;
import io.nodekeeper.agent.pods.volumes.VolumeContents;
import io.nodekeeper.agent.pods.volumes.VolumeRoom;
import io.nodekeeper.api.Failures;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Futures;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
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
    /** The least pause between two attempts to remove the volumes of a pod that has ended. */
    private static final Duration REMOVE_AGAIN = Duration.ofSeconds(10);
    /** An agent that restarts spreads the first updates of its pods, and removals of those that have ended, over this many seconds. */
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

    /**
     * The persistent volumes that were given to the pod's group since they were mounted, by name. Millions of files take longer than
     * a call may, so work that was given up tells it, too, and the next attempt need not begin again. As with a kubelet, once for
     * each mount is enough. Thread-safe; a new one after an unmount, so that work from before tells nothing about the next mount.
     */
    private Set<String> given = ConcurrentHashMap.newKeySet();

    private boolean ending;
    /** Whether the volumes of a pod that has ended are being removed, or are gone. */
    private boolean over;
    /** Whether they are gone. */
    private boolean removed;
    /** The next attempt to remove them at the earliest, monotonic ns. */
    private long removeAt;

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
        removeAt = clock.nanoTime();
    }

    /** Makes the directories and volumes; keeps what is there. */
    CompletableFuture<Void> prepare(Pod pod) {
        over = false;
        removed = false;
        removeAt = clock.nanoTime();
        return next(() -> ports.persistent().prepare(pod, () -> !ending).thenCompose(mounted -> prepare(pod, mounted)));
    }

    private CompletableFuture<Void> prepare(Pod pod, List<PersistentVolumes.Prepared> mounted) {
        Set<String> before = given;
        String what = "volumes of " + pod.fullName();
        return withContents(pod, ObjectCache.NEW, result -> {
                    if (!result.errors().isEmpty()) {
                        return CompletableFuture.failedFuture(result.errors().getFirst());
                    }
                    PodFiles.Contents contents = contents(result);
                    return ports.onDisk(what, () -> {
                                ports.files().prepare(pod, contents);
                                return "";
                            })
                            .thenAccept(done -> {});
                })
                // From here on it may hang, and must not hold contents.
                .thenCompose(made -> ports.ask(HostPlaces.of(pod, mounted, ports.files())))
                .thenCompose(answer -> ports.onVolumes(pod, what, () -> {
                    ports.files().checkHostPaths(pod);
                    return PersistentPaths.of(pod, mounted, ports.files(), before);
                }))
                .thenAccept(paths -> {
                    persistent = paths;
                    there = true;
                    updateAt = clock.nanoTime() + PERIOD.toNanos();
                    written = Metadata.of(pod);
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
            updateAt = clock.nanoTime() + spread(pod).toNanos();
            written = Metadata.of(pod);
        }
    }

    private static Duration spread(Pod pod) {
        return Duration.ofSeconds(Math.floorMod(pod.uid().hashCode(), SPREAD));
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
        next(() -> {
                    CompletableFuture<Void> found = find(pod);
                    return found.handle((done, error) -> update(pod, age))
                            .thenCompose(updated -> updated)
                            .thenCompose(done -> found)
                            .thenCompose(done -> ports.persistent().refresh(pod, this::goesOn));
                })
                .whenComplete((done, error) -> {
                    // Of a pod that ends, nothing waits for it any more.
                    if (error != null && goesOn()) {
                        events.warning(pod, "FailedMount", Failures.text(error));
                    }
                });
    }

    private boolean goesOn() {
        return !ending && !over;
    }

    /** Finds out where persistent volumes are that an earlier agent mounted. */
    private CompletableFuture<Void> find(Pod pod) {
        if (!persistent.isEmpty() || !PersistentVolumes.hasAny(pod)) {
            return CompletableFuture.completedFuture(null);
        }
        return ports.persistent()
                .find(pod)
                .thenAccept(found -> persistent = PersistentPaths.known(pod, found, ports.files()));
    }

    /**
     * Nothing of the pod will run again, but it stays in the API, or its manifest does: its volumes go, which take space and memory,
     * and which others may want to have.
     */
    void over(Pod pod) {
        if (!over) {
            over = true;
            there = false;
            // Pods that had ended before this agent started are many.
            removeAt += spread(pod).toNanos();
        }
        long now = clock.nanoTime();
        if (removed || now - removeAt < 0 || !last.isDone() || !hasVolumes(pod)) {
            return;
        }
        removeAt = now + REMOVE_AGAIN.toNanos();
        next(() -> unmount(pod)
                        .thenCompose(done -> onRemoval(
                                pod,
                                "volumes of " + pod.fullName(),
                                () -> ports.files().removeVolumes(pod.uid())))
                        .thenAccept(done -> {
                            removed = over;
                            ports.persistent().release(pod.uid());
                        }))
                .whenComplete((done, error) -> {
                    if (error != null) {
                        events.warning(pod, "FailedUnMount", Failures.text(error));
                    }
                });
    }

    /** Whether the volumes are gone, or will be in a moment: they must be made again before a container starts. */
    boolean isOver() {
        return over;
    }

    /** Of an outline that is not known. */
    private static boolean hasVolumes(Pod pod) {
        return pod.isOutline() || !pod.spec().array("volumes").isEmpty();
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
        given = ConcurrentHashMap.newKeySet();
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
        return withContents(pod, age, result -> {
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

    /** Reads what the volumes are made from, which takes memory until {@code use} has ended. */
    private CompletableFuture<Void> withContents(
            Pod pod, Duration age, Function<VolumeContents.Result, CompletableFuture<Void>> use) {
        VolumeRoom.Claim claim = ports.objects().room().claim();
        return VolumeReads.of(pod, ports.objects(), tokens, age, claim)
                .thenApply(objects -> VolumeContents.of(
                        pod, objects, new DownwardFields(pod, ports.node().get(), List.of())))
                .thenCompose(use)
                .whenComplete((done, error) -> claim.release());
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
        last = Futures.after(last, work);
        return last;
    }
}
