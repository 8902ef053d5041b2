package io.nodekeeper.agent.pods.mounts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What tests need that mount something. */
public final class MountRights {
    private MountRights() {}

    /**
     * Mounts something in a new directory of {@code directory}.
     *
     * @throws IOException if this user may not mount
     */
    public static void check(LinuxMounts mounts, Path directory) throws IOException {
        try {
            mounts.memory(Files.createDirectory(directory.resolve("probe")), 0);
        } catch (IOException e) {
            throw new IOException("this test mounts and needs CAP_SYS_ADMIN; run it as root: " + e.getMessage(), e);
        }
    }
}
