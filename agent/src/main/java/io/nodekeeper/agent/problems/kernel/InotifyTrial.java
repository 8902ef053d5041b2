package io.nodekeeper.agent.problems.kernel;

import java.io.IOException;
import java.nio.file.Path;

/** Creates an inotify instance with one watch and removes it again. Stateless. */
public final class InotifyTrial {
    /** What a trial found. */
    public enum Outcome {
        /** Both could be created. */
        AVAILABLE,
        /** The user has no instance left. */
        NO_INSTANCE,
        /** The user has no watch left. */
        NO_WATCH
    }

    private InotifyTrial() {}

    /**
     * Creates both.
     *
     * @throws IOException if that fails for another reason than the limits of inotify
     */
    public static Outcome run() throws IOException {
        int instance = Libc.inotify();
        if (instance == -Libc.EMFILE) {
            // The error of a process without descriptors is the same; opening a file tells them apart.
            int descriptor = Libc.open(Path.of("/"));
            if (descriptor == -Libc.EMFILE) {
                throw new IOException("the agent has no file descriptor left");
            }
            if (descriptor >= 0) {
                Libc.close(descriptor);
            }
            return Outcome.NO_INSTANCE;
        }
        if (instance < 0) {
            throw new IOException("inotify_init1 failed with errno " + -instance);
        }
        try {
            int watch = Libc.watch(instance, Path.of("/"));
            if (watch == -Libc.ENOSPC) {
                return Outcome.NO_WATCH;
            }
            if (watch < 0) {
                throw new IOException("inotify_add_watch failed with errno " + -watch);
            }
            return Outcome.AVAILABLE;
        } finally {
            Libc.close(instance);
        }
    }
}
