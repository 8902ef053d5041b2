package io.nodekeeper.apiserver;

import java.util.concurrent.CompletionException;

/** Finds the failure inside what futures wrap around it. */
final class Failures {
    private Failures() {}

    static Throwable cause(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }
}
