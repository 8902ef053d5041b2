package io.nodekeeper.client.config;

import java.util.List;

/** Thrown if credentials cannot be used. The message names the file and lists every fault. */
public final class KubeconfigException extends RuntimeException {

    /** {@code file} is the source; {@code faults} lists its faults. */
    public KubeconfigException(String file, List<String> faults) {
        super(file + ": " + String.join("; ", faults));
    }
}
