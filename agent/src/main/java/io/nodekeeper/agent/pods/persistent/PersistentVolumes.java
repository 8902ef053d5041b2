package io.nodekeeper.agent.pods.persistent;

import io.nodekeeper.agent.csi.CsiDriver;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.VolumeKind;
import io.nodekeeper.agent.pods.objects.ObjectCache;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.plugin.PluginCall;
import io.nodekeeper.time.Backoff;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The persistent volumes of the node's pods: mounts them for pods, unmounts them at their end, and knows which are in use. After a
 * restart it finds on the disk what an earlier agent mounted. Confined to its loop.
 */
public final class PersistentVolumes {
    private static final Logger log = LoggerFactory.getLogger(PersistentVolumes.class);
    /** The kubelet's pauses after failures of one volume. */
    private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(500), Duration.ofSeconds(122));

    private final VolumePorts ports;
    private final VolumeTable table = new VolumeTable();
    private final VolumePaths paths;
    private final Sources sources;
    private final Attachments attachments;
    private final CsiMounts mounts;
    /** Volumes whose unstaging is under way or has failed, by unique name; a part of the table's. */
    private final Map<String, Unstaging> unstaging = new HashMap<>();

    /** The UIDs of pods that ended before the disk was read; as many as pods end within some seconds. */
    private final Set<String> gone = new HashSet<>();

    private boolean scanning;
    /** Whether all that an earlier agent mounted is known. Until then nothing is unstaged: a pod may use it. */
    private boolean isComplete;

    private String lastFault = "";

    /** @param retryAt monotonic ns; empty while it is under way */
    private record Unstaging(int failures, Optional<Long> retryAt) {}

    /** Nothing is mounted yet. */
    public PersistentVolumes(VolumePorts ports) {
        this(ports, Path.of("/proc/self/mountinfo"));
    }

    /** The same with another table of mounts. */
    PersistentVolumes(VolumePorts ports, Path mountTable) {
        this.ports = ports;
        paths = new VolumePaths(ports.rootDir(), mountTable);
        sources = new Sources(ports.objects());
        attachments = new Attachments(ports, table);
        mounts = new CsiMounts(ports, table, paths);
    }

    /**
     * A volume that is ready, or that is on the host. Immutable.
     *
     * @param name of the pod's volume
     * @param path where a CSI driver has mounted it; empty for others
     * @param givesGroup whether its files are given to the pod's group
     */
    public record Prepared(String name, PersistentSource source, Optional<Path> path, boolean givesGroup) {}

    /** To be called about each second: finds what is mounted, and unmounts from the node what no pod uses. */
    public void tick() {
        if (!table.isSynced() || !isComplete) {
            reconstruct();
            return;
        }
        long now = ports.loop().clock().nanoTime();
        List<VolumeTable.Unused> unused = table.unused();
        unstaging
                .keySet()
                .retainAll(unused.stream().map(VolumeTable.Unused::name).toList());
        for (VolumeTable.Unused volume : unused) {
            Unstaging last = unstaging.getOrDefault(volume.name(), new Unstaging(0, Optional.of(now)));
            Optional<CsiDriver> driver = ports.drivers().apply(volume.driver());
            boolean due = last.retryAt().filter(at -> at - now <= 0).isPresent();
            if (due && driver.isPresent()) {
                unstage(volume, driver.get(), last.failures());
            }
        }
    }

    private void unstage(VolumeTable.Unused volume, CsiDriver driver, int failures) {
        unstaging.put(volume.name(), new Unstaging(failures, Optional.empty()));
        mounts.unstage(volume, driver).whenComplete((done, error) -> {
            if (error == null) {
                unstaging.remove(volume.name());
                return;
            }
            Duration pause = BACKOFF.delay(failures);
            log.warn("UnmountDevice failed for volume \"{}\" : {}", volume.name(), Failures.text(error));
            unstaging.put(
                    volume.name(),
                    new Unstaging(failures + 1, Optional.of(ports.loop().clock().nanoTime() + pause.toNanos())));
        });
    }

    /** Whether {@code pod} has such volumes. */
    public static boolean hasAny(Pod pod) {
        return volumes(pod).findFirst().isPresent();
    }

    private static Stream<JsonObject> volumes(Pod pod) {
        return pod.spec()
                .array("volumes")
                .objects()
                .filter(volume ->
                        VolumeKind.of(volume).filter(VolumeKind::isPersistent).isPresent());
    }

    /**
     * Mounts the persistent volumes of {@code pod}, all at the same time. Fails with {@link PersistentException}.
     *
     * @param goesOn whether the pod shall still run; waits end when it shall not
     */
    public CompletableFuture<List<Prepared>> prepare(Pod pod, BooleanSupplier goesOn) {
        List<CompletableFuture<Prepared>> all = volumes(pod)
                .map(volume -> sources.of(pod, volume, ObjectCache.NEW)
                        .thenCompose(source -> prepare(pod, volume, source, goesOn)))
                .toList();
        return together(all);
    }

    /** Where the persistent volumes of {@code pod} are, which an earlier agent mounted; mounts nothing, and touches no disk. */
    public CompletableFuture<List<Prepared>> find(Pod pod) {
        return together(volumes(pod)
                .map(volume -> sources.of(pod, volume, ObjectCache.RECENT)
                        .thenApply(source -> new Prepared(volume.text("name"), source, path(pod, source), false)))
                .toList());
    }

    private Optional<Path> path(Pod pod, PersistentSource source) {
        return source instanceof PersistentSource.Csi(CsiVolume csi)
                ? Optional.of(paths.target(pod.uid(), csi))
                : Optional.empty();
    }

    /**
     * Mounts those again whose drivers want that while a pod runs.
     *
     * @param goesOn whether the pod shall still run; waits end when it shall not
     */
    public CompletableFuture<Void> refresh(Pod pod, BooleanSupplier goesOn) {
        List<CompletableFuture<Void>> all = volumes(pod)
                .map(volume -> sources.of(pod, volume, ObjectCache.RECENT)
                        .thenCompose(source -> source instanceof PersistentSource.Csi(CsiVolume csi)
                                ? refresh(pod, csi, goesOn)
                                : CompletableFuture.completedFuture(null)))
                .toList();
        return together(all).thenAccept(done -> {});
    }

    private CompletableFuture<Void> refresh(Pod pod, CsiVolume volume, BooleanSupplier goesOn) {
        return sources.policy(volume.driver())
                .thenCompose(policy -> policy.requiresRepublish()
                        ? mount(pod, volume, policy, goesOn).thenAccept(done -> {})
                        : CompletableFuture.completedFuture(null));
    }

    private static <T> CompletableFuture<List<T>> together(List<CompletableFuture<T>> all) {
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                .thenApply(done -> all.stream().map(CompletableFuture::join).toList());
    }

    private CompletableFuture<Prepared> prepare(
            Pod pod, JsonObject volume, PersistentSource source, BooleanSupplier goesOn) {
        String name = volume.text("name");
        if (!(source instanceof PersistentSource.Csi(CsiVolume csi))) {
            return CompletableFuture.completedFuture(new Prepared(
                    name,
                    source,
                    Optional.empty(),
                    source instanceof PersistentSource.Local local && !local.readOnly()));
        }
        return sources.policy(csi.driver())
                .exceptionallyCompose(
                        error -> CompletableFuture.failedFuture(CsiMounts.setUpFailed(csi, Failures.text(error))))
                .thenCompose(policy -> mount(pod, csi, policy, goesOn)
                        .thenApply(path -> new Prepared(
                                name, source, Optional.of(path), policy.givesGroup(csi) && !mountsForGroup(csi))));
    }

    /** Whether the driver mounts the volume for the pod's group, which then owns the files already. */
    private boolean mountsForGroup(CsiVolume volume) {
        return ports.drivers()
                .apply(volume.driver())
                .filter(driver -> driver.can(PluginCall.Capability.VOLUME_MOUNT_GROUP))
                .isPresent();
    }

    private CompletableFuture<Path> mount(Pod pod, CsiVolume volume, DriverPolicy policy, BooleanSupplier goesOn) {
        Optional<String> fault = policy.modeFault(volume);
        if (fault.isPresent()) {
            return CompletableFuture.failedFuture(CsiMounts.setUpFailed(volume, fault.get()));
        }
        if (volume.accessModes().contains("ReadWriteOncePod") && table.hasOtherUser(pod.uid(), volume.uniqueName())) {
            return CompletableFuture.failedFuture(CsiMounts.setUpFailed(
                    volume, "volume uses the ReadWriteOncePod access mode and is already in use by another pod"));
        }
        boolean attaches = policy.attachRequired() && !volume.inline();
        table.use(pod.uid(), volume, attaches);
        CompletableFuture<Map<String, String>> context =
                attaches ? attachments.await(pod, volume, goesOn) : CompletableFuture.completedFuture(Map.of());
        return context.thenCompose(attached -> mounts.stage(pod, volume, attached)
                .thenCompose(staged -> mounts.publish(pod, volume, policy, staged, attached)));
    }

    /** Unmounts the volumes of {@code pod}, of which only the UID must be known. Afterwards its directories may be removed. */
    public CompletableFuture<Void> unmount(Pod pod) {
        return ports.onDisk("volumes of " + pod.fullName(), () -> paths.ofPod(pod.uid()))
                .thenCompose(found -> together(found.stream()
                        .map(volume -> mounts.unpublish(pod, volume))
                        .toList()))
                .thenAccept(done -> {});
    }

    /** Nothing of the pod is left on the disk. */
    public void release(String uid) {
        if (!isComplete) {
            gone.add(uid);
        }
        if (table.release(uid)) {
            ports.changed().run();
            tick();
        }
    }

    /** For {@code status.volumesInUse}; empty until it is known what an earlier agent mounted. */
    public Optional<List<String>> inUse() {
        return table.inUse();
    }

    /** The API has these names in {@code status.volumesInUse}. */
    public void reported(Collection<String> names) {
        table.reported(names);
    }

    private void reconstruct() {
        if (scanning) {
            return;
        }
        scanning = true;
        CompletableFuture<?> known = isComplete
                ? CompletableFuture.completedFuture(null)
                : ports.onDisk("volumes of pods", paths::scan).thenAccept(this::found);
        known.thenCompose(done -> decide()).whenComplete((done, error) -> {
            scanning = false;
            if (error == null) {
                table.sync();
            } else {
                unknown(Failures.text(error));
            }
        });
    }

    private void unknown(String fault) {
        if (!lastFault.equals(fault)) {
            lastFault = fault;
            log.error("It is not known yet which volumes are mounted, so none is unmounted from the node: {}", fault);
        }
    }

    private void found(VolumePaths.Scan scan) {
        isComplete = scan.fault().isEmpty();
        scan.fault().ifPresent(this::unknown);
        for (VolumePaths.Found volume : scan.found()) {
            if (volume.uid().isEmpty()) {
                table.foundStaged(
                        volume.driver(), volume.handle(), volume.path().toString());
            } else if (!gone.contains(volume.uid())) {
                table.found(volume.uid(), volume.driver(), volume.handle());
            }
        }
        gone.clear();
        if (isComplete && !scan.found().isEmpty()) {
            log.info(
                    "Found {} volumes that an earlier agent has mounted",
                    scan.found().size());
        }
    }

    private CompletableFuture<?> decide() {
        return together(table.undecided().stream()
                .map(driver ->
                        sources.policy(driver).thenAccept(policy -> table.decide(driver, policy.attachRequired())))
                .toList());
    }
}
