package io.nodekeeper.agent.pods.volumes;

/** A volume cannot be made; the message is that of a kubelet's event, and names the volume. */
public final class VolumeException extends RuntimeException {

    /** The volume {@code volume} cannot be made because of {@code reason}. */
    public VolumeException(String volume, String reason) {
        super("MountVolume.SetUp failed for volume \"" + volume + "\" : " + reason);
    }

    /** As {@link #VolumeException(String, String)}, with the error behind it. */
    public VolumeException(String volume, String reason, Throwable cause) {
        super("MountVolume.SetUp failed for volume \"" + volume + "\" : " + reason, cause);
    }
}
