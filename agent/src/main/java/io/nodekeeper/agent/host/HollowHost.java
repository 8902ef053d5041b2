package io.nodekeeper.agent.host;

import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.HostAddresses;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.facts.MachineInfo;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/** A simulated host with constant facts, for load tests and simulations of many nodes. Immutable. */
public final class HollowHost implements Host {
    private static final long GIBI = 1L << 30;
    private static final Filesystem DISK =
            new Filesystem(new Level(80 * GIBI, 100 * GIBI), new Level(6_000_000, 6_553_600));
    private static final Level PIDS = new Level(4_190_000, 4_194_304);

    private final MachineInfo machine;
    private final HostAddresses addresses;

    /**
     * A host of 4 cores, 16 GiB of memory and 100 GiB of disk whose ids follow from its name.
     *
     * @param name the node's name
     * @param number 0 to 2²⁴−1, from which the address 10.x.y.z is computed
     */
    public HollowHost(String name, int number) {
        String id =
                UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)).toString();
        machine = new MachineInfo(
                4, 16 * GIBI, 0, Map.of(), id.replace("-", ""), id, id, "0.0.0-hollow", "Hollow Node", "amd64");
        List<InetAddress> own = List.of(address(number));
        addresses = new HostAddresses(own, own, own);
    }

    @Override
    public CompletableFuture<MachineInfo> machine() {
        return CompletableFuture.completedFuture(machine);
    }

    @Override
    public CompletableFuture<Filesystem> rootFilesystem() {
        return CompletableFuture.completedFuture(DISK);
    }

    @Override
    public CompletableFuture<Filesystem> filesystem(Path path) {
        return CompletableFuture.completedFuture(DISK);
    }

    @Override
    public CompletableFuture<Level> podMemory() {
        return CompletableFuture.completedFuture(new Level(14 * GIBI, 16 * GIBI));
    }

    @Override
    public CompletableFuture<Long> workingSet() {
        return CompletableFuture.completedFuture(2 * GIBI);
    }

    @Override
    public CompletableFuture<Level> pids() {
        return CompletableFuture.completedFuture(PIDS);
    }

    @Override
    public CompletableFuture<HostAddresses> addresses(String nodeName) {
        return CompletableFuture.completedFuture(addresses);
    }

    private static InetAddress address(int number) {
        try {
            return InetAddress.getByAddress(
                    new byte[] {10, (byte) (number >> 16), (byte) (number >> 8), (byte) number});
        } catch (UnknownHostException e) {
            throw new IllegalStateException("four bytes are an address", e);
        }
    }
}
