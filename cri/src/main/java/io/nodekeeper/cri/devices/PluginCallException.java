package io.nodekeeper.cri.devices;

import io.grpc.Status;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A call to a plugin that failed; the message has the form that Kubernetes' components give to errors of gRPC. */
public final class PluginCallException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    PluginCallException(String message) {
        super(message);
    }

    static PluginCallException of(Status status) {
        return new PluginCallException("rpc error: code = " + name(status.getCode()) + " desc = " + words(status));
    }

    /** Such as {@code DeadlineExceeded}. */
    private static String name(Status.Code code) {
        if (code == Status.Code.CANCELLED) {
            // The only one that Go spells differently.
            return "Canceled";
        }
        StringBuilder name = new StringBuilder();
        for (String word : code.name().split("_")) {
            name.append(word.charAt(0)).append(word.substring(1).toLowerCase(Locale.ROOT));
        }
        return name.toString();
    }

    private static String words(Status status) {
        String text = status.getDescription() == null ? "" : status.getDescription();
        @Nullable Throwable cause = status.getCause();
        while (cause != null && cause.getCause() != null) {
            cause = cause.getCause();
        }
        String why = cause == null || cause.getMessage() == null ? "" : cause.getMessage();
        return text.isEmpty() ? why : why.isEmpty() || text.contains(why) ? text : text + ": " + why;
    }
}
