package io.nodekeeper.agent.checkpoint;

import java.nio.charset.StandardCharsets;

/**
 * The checksum of a kubelet's checkpoints: FNV-1a with 32 bits over the value as text, in the form in which the Go library spew
 * prints it with types. Stateless.
 */
public final class Checksum {
    /** FNV's offset basis for 32 bits. */
    private static final int BASIS = 0x811c9dc5;
    /** FNV's prime for 32 bits. */
    private static final int PRIME = 0x01000193;

    private Checksum() {}

    /** The checksum of {@code text}, from 0 to 2^32 - 1. */
    public static long of(String text) {
        int hash = BASIS;
        for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (each & 0xff)) * PRIME;
        }
        return Integer.toUnsignedLong(hash);
    }
}
