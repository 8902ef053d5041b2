package io.nodekeeper.api;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Examines the failures of asynchronous calls. */
public final class Failures {
    private Failures() {}

    /** {@code error} without what futures wrap around it: {@link CompletionException}s and {@link ExecutionException}s. */
    public static Throwable cause(Throwable error) {
        Throwable cause = error;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    /** Whether the server refused with HTTP status {@code code}. */
    public static boolean isCode(Throwable error, int code) {
        return cause(error) instanceof ApiException refused && refused.code() == code;
    }

    /** Whether the server refused with HTTP status {@code code} and that {@code reason}. */
    public static boolean isReason(Throwable error, int code, String reason) {
        return cause(error) instanceof ApiException refused
                && refused.code() == code
                && refused.reason().equals(reason);
    }

    /**
     * Whether the same call may succeed later: the server did not answer, or it answered 429 or 5xx. Other refusals are about
     * the request itself.
     */
    public static boolean mayPass(Throwable error) {
        return !(cause(error) instanceof ApiException refused) || refused.code() == 429 || refused.code() >= 500;
    }

    /** The failure in one line for a log, without a stack trace. */
    public static String text(Throwable error) {
        Throwable cause = cause(error);
        String message = cause.getMessage();
        return message == null || message.isEmpty() ? cause.getClass().getSimpleName() : message;
    }
}
