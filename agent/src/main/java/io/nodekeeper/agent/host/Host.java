package io.nodekeeper.agent.host;

import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.HostAddresses;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.facts.MachineInfo;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/**
 * Reads facts about the machine. Each reading may fail or hang by itself: the agent puts a deadline on each and never
 * waits for one in the status path. Results may come on any thread.
 */
public interface Host {

    /** The properties of the machine. */
    CompletableFuture<MachineInfo> machine();

    /** The usage of the file system of the agent's root directory. */
    CompletableFuture<Filesystem> rootFilesystem();

    /** The usage of the file system that contains {@code path}; fails if the path does not exist. */
    CompletableFuture<Filesystem> filesystem(Path path);

    /** The memory that pods may still use, and the limit of the cgroup {@code kubepods}; fails without that limit. */
    CompletableFuture<Level> podMemory();

    /** The working set of the whole machine in bytes: memory in use that the kernel cannot drop immediately. */
    CompletableFuture<Long> workingSet();

    /** The process ids that are left. */
    CompletableFuture<Level> pids();

    /** The addresses of the host; {@code nodeName} is the name that is resolved. */
    CompletableFuture<HostAddresses> addresses(String nodeName);
}
