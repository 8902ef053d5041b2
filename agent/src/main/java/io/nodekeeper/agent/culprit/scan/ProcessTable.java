package io.nodekeeper.agent.culprit.scan;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** The processes of one container runtime. Thread-safe; results come on any thread. */
@FunctionalInterface
public interface ProcessTable {

    /**
     * Looks at them all: the runtime, its shims, what they started, and what a runtime that is gone left behind. Answers or
     * fails within seconds.
     *
     * @param ids the runtime's sandboxes and containers as far as known
     * @param deep whether to look at every thread, and not only at those of the runtime
     */
    CompletableFuture<List<ProcessInfo>> scan(Set<String> ids, boolean deep);
}
