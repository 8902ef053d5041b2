package io.nodekeeper.simulator.replay;

import java.io.IOException;

/** A file is not a recording that can be replayed; the message says why, and in which line. */
public final class RecordingException extends IOException {
    private static final long serialVersionUID = 1;

    RecordingException(String message) {
        super(message);
    }
}
