package io.nodekeeper.agent.pods.persistent;

import io.nodekeeper.agent.csi.StorageTypes;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonObject;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * Waits until a volume is attached to this node: first until the API shows that it is in use here, so that it will not be detached,
 * then until its VolumeAttachment says so. Confined to its loop.
 */
final class Attachments {
    private final VolumePorts ports;
    private final VolumeTable table;
    private final Waits waits;

    Attachments(VolumePorts ports, VolumeTable table) {
        this.ports = ports;
        this.table = table;
        this.waits = new Waits(ports.loop());
    }

    /** What the attachment tells the driver. */
    CompletableFuture<Map<String, String>> await(Pod pod, CsiVolume volume, BooleanSupplier goesOn) {
        if (!ports.controllerAttaches()) {
            return CompletableFuture.failedFuture(notAttached(
                    volume, "enableControllerAttachDetach is false, and this node's agent attaches no volumes"));
        }
        String name = volume.attachment(ports.node());
        CompletableFuture<Map<String, String>> attached = reported(volume, goesOn)
                .thenCompose(reported -> waits.until(
                        goesOn,
                        () -> look(volume, name),
                        () -> waitFailed(
                                volume,
                                "timed out waiting for external-attacher of " + volume.driver()
                                        + " CSI driver to attach volume " + volume.handle())));
        return waits.watched(
                attached, () -> ports.warnings().warning(pod, PersistentException.FAILED_ATTACH, slow(volume, name)));
    }

    private String slow(CsiVolume volume, String name) {
        return notAttachedText(
                volume,
                table.isReported(volume.uniqueName())
                        ? "VolumeAttachment " + name + " of driver " + volume.driver() + " is not attached yet"
                        : "the volume is not in the node's volumesInUse yet");
    }

    private CompletableFuture<Boolean> reported(CsiVolume volume, BooleanSupplier goesOn) {
        if (!table.isReported(volume.uniqueName())) {
            ports.changed().run();
        }
        return waits.until(
                goesOn,
                () -> CompletableFuture.completedFuture(
                        Optional.of(true).filter(yes -> table.isReported(volume.uniqueName()))),
                () -> new PersistentException("Volume has not been added to the list of VolumesInUse in the node's"
                        + " volume status for volume \"" + volume.name() + "\""));
    }

    private CompletableFuture<Optional<Map<String, String>>> look(CsiVolume volume, String name) {
        return ports.client()
                .get(StorageTypes.VOLUME_ATTACHMENTS, "", name)
                .thenApply(Optional::of)
                // A node may only read attachments to itself, so one that is missing is forbidden.
                .exceptionallyCompose(error -> Failures.isCode(error, 404) || Failures.isCode(error, 403)
                        ? CompletableFuture.completedFuture(Optional.empty())
                        : CompletableFuture.failedFuture(waitFailed(volume, Failures.text(error))))
                .thenApply(found -> found.flatMap(attachment -> attached(volume, attachment)));
    }

    private static Optional<Map<String, String>> attached(CsiVolume volume, JsonObject attachment) {
        if (attachment.object("metadata").has("deletionTimestamp")) {
            throw waitFailed(volume, "volume attachment is being deleted");
        }
        JsonObject status = attachment.object("status");
        if (status.bool("attached")) {
            return Optional.of(status.object("attachmentMetadata").texts());
        }
        String error = status.object("attachError").text("message");
        if (!error.isEmpty()) {
            throw notAttached(volume, error);
        }
        return Optional.empty();
    }

    private static PersistentException waitFailed(CsiVolume volume, String why) {
        return new PersistentException(
                "MountVolume.WaitForAttach failed for volume \"" + volume.name() + "\" : " + why);
    }

    private static PersistentException notAttached(CsiVolume volume, String why) {
        return new PersistentException(PersistentException.FAILED_ATTACH, notAttachedText(volume, why));
    }

    private static String notAttachedText(CsiVolume volume, String why) {
        return "AttachVolume.Attach failed for volume \"" + volume.name() + "\" : " + why;
    }
}
