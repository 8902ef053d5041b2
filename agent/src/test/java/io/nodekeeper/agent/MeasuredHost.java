package io.nodekeeper.agent;

import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.HostAddresses;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.facts.MachineInfo;
import io.nodekeeper.agent.host.HollowHost;
import io.nodekeeper.agent.host.Host;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A simulated host that records which file systems were measured; its disk can be replaced and can hang. */
final class MeasuredHost implements Host {
    final List<Path> measured = new ArrayList<>();
    Filesystem disk = Fixtures.DISK;
    boolean hang;
    /** Whether the facts about the machine hang. */
    boolean machineHangs;

    private final HollowHost hollow = new HollowHost("n1", 1);

    @Override
    public CompletableFuture<MachineInfo> machine() {
        return machineHangs ? new CompletableFuture<>() : hollow.machine();
    }

    @Override
    public CompletableFuture<Filesystem> rootFilesystem() {
        return disk();
    }

    @Override
    public CompletableFuture<Filesystem> filesystem(Path path) {
        measured.add(path);
        return disk();
    }

    @Override
    public CompletableFuture<Level> podMemory() {
        return hollow.podMemory();
    }

    @Override
    public CompletableFuture<Long> workingSet() {
        return hollow.workingSet();
    }

    @Override
    public CompletableFuture<Level> pids() {
        return hollow.pids();
    }

    @Override
    public CompletableFuture<HostAddresses> addresses(String nodeName) {
        return hollow.addresses(nodeName);
    }

    private CompletableFuture<Filesystem> disk() {
        return hang ? new CompletableFuture<>() : CompletableFuture.completedFuture(disk);
    }
}
