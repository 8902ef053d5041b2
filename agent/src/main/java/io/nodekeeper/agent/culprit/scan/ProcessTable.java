package io.nodekeeper.agent.culprit.scan;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** The processes of one container runtime. Thread-safe; results come on any thread. */
@FunctionalInterface
public interface ProcessTable {

    /**
     * Scans all of them: the runtime, its shims, the processes that they started, and those that an earlier runtime left.
     * Answers or fails within seconds.
     *
     * @param ids the runtime's sandboxes and containers as far as known
     * @param deep whether to read every thread, and not only those of the runtime
     */
    CompletableFuture<List<ProcessInfo>> scan(Set<String> ids, boolean deep);

    /**
     * Whether one of these processes has ended, or was stopped or continued, since a scan showed it. Reads one line for each
     * of them. A table that cannot tell says no.
     */
    default CompletableFuture<Boolean> changed(List<ProcessInfo> processes) {
        return CompletableFuture.completedFuture(false);
    }
}
