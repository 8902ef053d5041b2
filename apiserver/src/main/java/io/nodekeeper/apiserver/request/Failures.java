package io.nodekeeper.apiserver.request;

import java.util.concurrent.CompletionException;

/** Finds the failure inside what futures wrap around it. */
public final class Failures {
    private Failures() {}

    public static Throwable cause(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }
}
