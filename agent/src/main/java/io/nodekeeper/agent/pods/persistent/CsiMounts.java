package io.nodekeeper.agent.pods.persistent;

import io.nodekeeper.agent.csi.CsiDriver;
import io.nodekeeper.agent.csi.CsiHandler;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.plugin.PluginCall;
import io.nodekeeper.cri.plugin.PluginCallException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Mounts and unmounts CSI volumes by their drivers. What the disk says is written before a driver is asked to mount, and removed
 * after it has unmounted. Confined to its loop.
 */
final class CsiMounts {
    private static final Logger log = LoggerFactory.getLogger(CsiMounts.class);

    private final VolumePorts ports;
    private final VolumeTable table;
    private final VolumePaths paths;
    private final DriverInputs inputs;
    private final Waits waits;
    /** Staging and unstaging of one volume come one after another; by unique name, as long as something is under way. */
    private final Map<String, CompletableFuture<?>> staging = new HashMap<>();

    CsiMounts(VolumePorts ports, VolumeTable table, VolumePaths paths) {
        this.ports = ports;
        this.table = table;
        this.paths = paths;
        this.inputs = new DriverInputs(ports);
        this.waits = new Waits(ports.loop());
    }

    /** Mounts {@code volume} for the node, unless its driver does not do that or it is mounted; the result is where, or empty. */
    CompletableFuture<String> stage(Pod pod, CsiVolume volume, Map<String, String> publishContext) {
        Optional<CsiDriver> driver = ports.drivers().apply(volume.driver());
        if (driver.isEmpty()) {
            return CompletableFuture.failedFuture(deviceFailed(
                    volume,
                    "kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: "
                            + missing(volume.driver())));
        }
        if (volume.inline() || !driver.get().can(PluginCall.Capability.STAGE_UNSTAGE_VOLUME)) {
            return CompletableFuture.completedFuture("");
        }
        Path path = paths.global(volume);
        return inTurn(volume.uniqueName(), () -> {
                    if (table.isStaged(volume.uniqueName())) {
                        return CompletableFuture.completedFuture("");
                    }
                    table.staged(volume.uniqueName(), path.toString(), false);
                    return stageNow(pod, volume, driver.get(), path, publishContext);
                })
                .thenApply(done -> path.toString())
                .exceptionallyCompose(failing(error -> deviceFailed(volume, error)));
    }

    private CompletableFuture<?> stageNow(
            Pod pod, CsiVolume volume, CsiDriver driver, Path path, Map<String, String> publishContext) {
        return ports.onDisk("directory of volume " + volume.name(), () -> {
                    paths.prepareGlobal(volume);
                    return "";
                })
                .thenCompose(made -> inputs.secrets("NodeStageSecretRef", volume.stageSecret()))
                .thenCompose(secrets -> ask(
                        pod,
                        volume.name(),
                        driver,
                        new PluginCall.NodeStageVolume(new PluginCall.Volume(
                                volume.handle(),
                                path.toString(),
                                volume.fsType(),
                                volume.mountOptions(),
                                DriverInputs.mountGroup(pod, driver),
                                DriverInputs.access(volume, driver),
                                publishContext,
                                secrets,
                                volume.attributes()))))
                .thenAccept(done -> table.staged(volume.uniqueName(), path.toString(), true));
    }

    /** Mounts {@code volume} for the pod; the result is where. */
    CompletableFuture<Path> publish(
            Pod pod, CsiVolume volume, DriverPolicy policy, String stagingPath, Map<String, String> publishContext) {
        Optional<CsiDriver> driver = ports.drivers().apply(volume.driver());
        if (driver.isEmpty()) {
            return CompletableFuture.failedFuture(setUpFailed(
                    volume,
                    "kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: " + missing(volume.driver())));
        }
        Path target = paths.target(pod.uid(), volume);
        return ports.onDisk("directory of volume " + volume.name() + " of " + pod.fullName(), () -> {
                    paths.prepareTarget(pod.uid(), volume, ports.node());
                    return "";
                })
                .thenCompose(made -> inputs.secrets("NodePublishSecretRef", volume.publishSecret()))
                .thenCompose(secrets -> inputs.context(pod, volume, policy)
                        .thenCompose(context -> ask(
                                pod,
                                volume.name(),
                                driver.get(),
                                new PluginCall.NodePublishVolume(
                                        new PluginCall.Volume(
                                                volume.handle(),
                                                stagingPath,
                                                volume.fsType(),
                                                volume.mountOptions(),
                                                DriverInputs.mountGroup(pod, driver.get()),
                                                DriverInputs.access(volume, driver.get()),
                                                publishContext,
                                                secrets,
                                                context),
                                        target.toString(),
                                        volume.readOnly()))))
                .thenApply(done -> target)
                .exceptionallyCompose(failing(error -> setUpFailed(volume, error)));
    }

    /** Unmounts a volume of a pod. */
    CompletableFuture<Void> unpublish(Pod pod, VolumePaths.Found found) {
        Optional<CsiDriver> driver = ports.drivers().apply(found.driver());
        CompletableFuture<?> done = driver.<CompletableFuture<?>>map(registered -> ask(
                        pod,
                        found.name(),
                        registered,
                        new PluginCall.NodeUnpublishVolume(
                                found.handle(), found.path().toString())))
                .orElseGet(() -> CompletableFuture.failedFuture(
                        new IllegalStateException("kubernetes.io/csi: Unmounter.TearDownAt failed to get CSI client: "
                                + missing(found.driver()))));
        return done.<Void>thenApply(ended -> null)
                .exceptionallyCompose(failing(error -> new PersistentException(
                        "UnmountVolume.TearDown failed for volume \"" + found.name() + "\" (UniqueName: \""
                                + CsiVolume.uniqueName(found.driver(), found.handle()) + "\") pod \"" + pod.name()
                                + "\" (UID: \"" + found.uid() + "\") : " + error)));
    }

    /** Unmounts a volume from the node, if no pod has begun to use it meanwhile. */
    CompletableFuture<Void> unstage(VolumeTable.Unused volume, CsiDriver driver) {
        return inTurn(volume.name(), () -> {
                    if (!table.isUnused(volume.name())) {
                        return CompletableFuture.completedFuture(null);
                    }
                    table.staged(volume.name(), volume.directory(), false);
                    return call(
                                    driver,
                                    new PluginCall.NodeUnstageVolume(volume.handle(), volume.directory()),
                                    volume.name())
                            .thenCompose(done -> ports.onDisk("directory of volume " + volume.name(), () -> {
                                VolumePaths.removeGlobal(Path.of(volume.directory()));
                                return "";
                            }))
                            .thenAccept(done -> {
                                table.unstaged(volume.name());
                                ports.changed().run();
                            });
                })
                .thenApply(done -> null);
    }

    /** A call for a pod; what takes long is told. */
    private CompletableFuture<PluginCall.Done> ask(
            Pod pod, String volume, CsiDriver driver, PluginCall<PluginCall.Done> call) {
        return waits.watched(call(driver, call, volume), () -> {
            String what = "CSI driver " + driver.name() + " has not answered " + call.method() + " for volume \""
                    + volume + "\" since " + Waits.SLOW.toSeconds() + " s";
            log.warn("{}; pod {} waits for it", what, pod.fullName());
            ports.warnings().warning(pod, PersistentException.FAILED_MOUNT, what);
        });
    }

    private CompletableFuture<PluginCall.Done> call(CsiDriver driver, PluginCall<PluginCall.Done> call, String volume) {
        return ports.plugins().call(driver.endpoint(), call, CsiHandler.CALL).whenComplete((done, error) -> {
            if (error != null
                    && Failures.cause(error) instanceof PluginCallException refused
                    && refused.code().equals(PluginCallException.DEADLINE_EXCEEDED)) {
                log.error(
                        "CSI driver {} at {} did not answer {} for volume {} within {} s",
                        driver.name(),
                        driver.endpoint(),
                        call.method(),
                        volume,
                        CsiHandler.CALL.toSeconds());
            }
        });
    }

    private CompletableFuture<?> inTurn(String name, Supplier<CompletableFuture<?>> work) {
        CompletableFuture<?> before = staging.getOrDefault(name, CompletableFuture.completedFuture(null));
        CompletableFuture<?> mine = before.handle((done, error) -> work.get()).thenCompose(started -> started);
        staging.put(name, mine);
        mine.whenComplete((done, error) -> staging.remove(name, mine));
        return mine;
    }

    private static <T> Function<Throwable, CompletableFuture<T>> failing(Function<String, PersistentException> make) {
        return error -> {
            Throwable cause = Failures.cause(error);
            return CompletableFuture.failedFuture(
                    cause instanceof PersistentException ? cause : make.apply(Failures.text(cause)));
        };
    }

    private static String missing(String driver) {
        return "driver name " + driver + " not found in the list of registered CSI drivers";
    }

    private static PersistentException deviceFailed(CsiVolume volume, String why) {
        return new PersistentException("MountVolume.MountDevice failed for volume \"" + volume.name() + "\" : " + why);
    }

    /** What a kubelet says of a volume that cannot be mounted for a pod. */
    static PersistentException setUpFailed(CsiVolume volume, String why) {
        return new PersistentException("MountVolume.SetUp failed for volume \"" + volume.name() + "\" : " + why);
    }
}
