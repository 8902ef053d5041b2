package io.nodekeeper.cri.devices;

import io.grpc.Status;
import io.nodekeeper.cri.grpc.GoStatus;

/** A call to a plugin that failed; the message has the form that Kubernetes' components give to errors of gRPC. */
public final class PluginCallException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    PluginCallException(String message) {
        super(message);
    }

    static PluginCallException of(Status status) {
        return new PluginCallException(GoStatus.error(GoStatus.code(status), GoStatus.description(status)));
    }
}
