package io.nodekeeper.cli.source;

import java.io.IOException;

/** No controller answers, though the API server does. The message says which ones were tried and what each said. */
public final class NoControllerException extends IOException {
    private static final long serialVersionUID = 1;

    NoControllerException(String message) {
        super(message);
    }
}
