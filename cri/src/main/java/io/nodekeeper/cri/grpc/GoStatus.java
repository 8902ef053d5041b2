package io.nodekeeper.cri.grpc;

import io.grpc.Status;
import java.util.Locale;

/** gRPC's status in the words of a client in Go, as Kubernetes' components show it. Immutable. */
public final class GoStatus {
    private GoStatus() {}

    /** The message of an error with {@code code}, which is in Go's spelling. */
    public static String error(String code, String description) {
        return "rpc error: code = " + code + " desc = " + description;
    }

    /** The code in Go's spelling, such as {@code DeadlineExceeded}. */
    public static String code(Status status) {
        if (status.getCode() == Status.Code.CANCELLED) {
            // The only one that Go spells differently.
            return "Canceled";
        }
        StringBuilder name = new StringBuilder();
        for (String word : status.getCode().name().split("_")) {
            name.append(word.charAt(0)).append(word.substring(1).toLowerCase(Locale.ROOT));
        }
        return name.toString();
    }

    /** The server's text; if the error was found in this process, also its root cause. Empty if there is neither. */
    public static String description(Status status) {
        String text = status.getDescription() == null ? "" : status.getDescription();
        Throwable cause = status.getCause();
        while (cause != null && cause.getCause() != null) {
            cause = cause.getCause();
        }
        String why = cause == null || cause.getMessage() == null ? "" : cause.getMessage();
        return text.isEmpty() ? why : text.contains(why) ? text : text + ": " + why;
    }
}
