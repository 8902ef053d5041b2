package io.nodekeeper.agent.host;

import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.HostAddresses;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.facts.MachineInfo;
import java.util.concurrent.CompletableFuture;

/**
 * Reads facts about the machine. Each reading may fail or hang by itself: the agent puts a deadline on each and never
 * waits for one in the status path. Results may come on any thread.
 */
public interface Host {

    /** What the machine is. */
    CompletableFuture<MachineInfo> machine();

    /** How full the file system of the agent's root directory is. */
    CompletableFuture<Filesystem> rootFilesystem();

    /** The working set of the whole machine in bytes: memory in use that cannot simply be dropped. */
    CompletableFuture<Long> workingSet();

    /** How many process ids are left. */
    CompletableFuture<Level> pids();

    /** Where the host can be reached; {@code nodeName} is what the resolver is asked for. */
    CompletableFuture<HostAddresses> addresses(String nodeName);
}
