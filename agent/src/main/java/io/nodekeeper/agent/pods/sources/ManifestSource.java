package io.nodekeeper.agent.pods.sources;

import io.nodekeeper.agent.pods.model.Pod;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** A place with manifests of static pods. Its calls may block; they come one after another, from any thread. */
interface ManifestSource {

    /** What it is, for messages: a path or a URL. */
    String name();

    /** How long a read may take. The thread of one that takes longer is interrupted. */
    Duration deadline();

    /**
     * All pods that it has now. A manifest that cannot be read keeps the pod that was read from it before: half of a file must
     * not end a pod.
     *
     * @throws IOException if it is not known which manifests there are; what was read before stays
     */
    List<Pod> read() throws IOException;

    /** Whether something has changed since {@link #read}. Does not block. */
    default boolean changed() {
        return false;
    }

    /** Frees what it holds. */
    default void close() {}
}
