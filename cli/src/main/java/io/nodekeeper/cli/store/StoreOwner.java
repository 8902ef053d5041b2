package io.nodekeeper.cli.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Whether this process's user may write the store of a data directory. What it writes belongs to that user alone, so the server
 * could not open it if the server is another user's.
 */
final class StoreOwner {
    private static final String ROOT = "root";

    private StoreOwner() {}

    /** Why this process must not write the store in {@code data}; empty if it may, or if its user is unknown. */
    static Optional<String> fault(Path data) {
        try {
            return fault(
                    data,
                    Files.getOwner(data).getName(),
                    Files.getOwner(Path.of("/proc/self")).getName());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /**
     * Why the user {@code own} must not write the store in {@code data}, which belongs to {@code owner}; empty if it may. In a
     * directory of root, such as a volume of a container, anybody may whom root lets write: root can open all.
     */
    static Optional<String> fault(Path data, String owner, String own) {
        return owner.equals(own) || owner.equals(ROOT)
                ? Optional.empty()
                : Optional.of("--data-dir " + data + " belongs to the user " + owner + ", who could not open what "
                        + own + " writes there; expected this command as that user: runuser -u " + owner
                        + " -- nodekeeper apiserver ...");
    }
}
