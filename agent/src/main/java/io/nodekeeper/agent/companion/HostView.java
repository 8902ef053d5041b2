package io.nodekeeper.agent.companion;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The host's mounts and files as this process sees them. A process in a container with the host's process ids reaches them
 * through process 1; one that shares the host's mounts reaches them directly. Immutable.
 *
 * @param mounts the file that lists the host's mounts
 * @param root the host's root directory; empty if it is this process's own
 */
record HostView(Path mounts, Optional<Path> root) {

    /** The view of this process, with {@code proc} as its proc file system; blocks. */
    static HostView of(Path proc) {
        HostView own = new HostView(proc.resolve("self/mountinfo"), Optional.empty());
        try {
            Path here = Files.readSymbolicLink(proc.resolve("self/ns/mnt"));
            Path host = Files.readSymbolicLink(proc.resolve("1/ns/mnt"));
            return here.equals(host)
                    ? own
                    : new HostView(proc.resolve("1/mountinfo"), Optional.of(proc.resolve("1/root")));
        } catch (IOException e) {
            // Without the right to read the namespaces of process 1 its root cannot be used either.
            return own;
        }
    }

    /** Where this process finds the host's {@code path}, which is absolute. */
    Path path(Path path) {
        return root.map(top -> top.resolve(Path.of("/").relativize(path))).orElse(path);
    }
}
