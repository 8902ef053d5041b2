package io.nodekeeper.agent.pods.volumes;

import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;

/** A file of a volume. Immutable: its bytes do not change. Its text has no content, which may be secret. */
public final class FileContent {
    private final byte[] bytes;
    private final int mode;
    private final OptionalLong user;

    FileContent(byte[] bytes, int mode, OptionalLong user) {
        this.bytes = bytes;
        this.mode = mode;
        this.user = user;
    }

    byte[] bytes() {
        return bytes;
    }

    /** The bits of {@code chmod}. */
    int mode() {
        return mode;
    }

    /** Its owner; the agent's user if empty. */
    OptionalLong user() {
        return user;
    }

    /** The content as text. */
    String text() {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return bytes.length + " bytes, mode " + Integer.toOctalString(mode);
    }
}
