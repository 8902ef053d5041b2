package io.nodekeeper.agent.devices;

/** A plugin was refused, or devices cannot be given to a container. The message is that of a kubelet. */
public final class DeviceException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    DeviceException(String message) {
        super(message);
    }
}
