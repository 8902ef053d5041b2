package io.nodekeeper.cli.store;

import io.nodekeeper.cli.apiserver.OpenStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
            String own = Files.getOwner(Path.of("/proc/self")).getName();
            // A server that made them may be another user's than the directory, such as a volume of root.
            for (Path made : List.of(OpenStore.directory(data), data.resolve("pki"))) {
                if (Files.exists(made) && !Files.getOwner(made).getName().equals(own)) {
                    return Optional.of(
                            refusal(made.toString(), Files.getOwner(made).getName(), own));
                }
            }
            return fault(data, Files.getOwner(data).getName(), own);
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
                : Optional.of(refusal("--data-dir " + data, owner, own));
    }

    private static String refusal(String what, String owner, String own) {
        return what + " belongs to the user " + owner + ", who could not open what " + own
                + " writes there; expected this command as that user: runuser -u " + owner
                + " -- nodekeeper apiserver ...";
    }
}
