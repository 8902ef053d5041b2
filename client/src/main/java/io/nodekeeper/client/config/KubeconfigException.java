package io.nodekeeper.client.config;

import java.util.List;

/** Credentials that cannot be used. The message names the file and lists every fault. */
public final class KubeconfigException extends RuntimeException {

    /** {@code file} is what was read; {@code faults} says what is wrong in it. */
    public KubeconfigException(String file, List<String> faults) {
        super(file + ": " + String.join("; ", faults));
    }
}
