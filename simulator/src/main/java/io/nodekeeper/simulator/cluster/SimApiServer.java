package io.nodekeeper.simulator.cluster;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.simulator.network.ServerCore;
import io.nodekeeper.simulator.network.SimNetwork;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.store.memory.StoreLimits;
import io.nodekeeper.store.memory.WatchCache;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** A simulated API server: store and server core on a disk that survives its crashes. Confined to virtual time. */
public final class SimApiServer extends SimProcess {
    public static final String NAME = "apiserver";
    /** Kubernetes' default. */
    private static final Duration EVENT_TTL = Duration.ofHours(1);
    /**
     * The defaults of a server with a heap of 1 GiB, whatever this process has: on them depends when a store is full and which
     * watches have to list again, and the same seed must give the same run on each machine.
     */
    static final StoreLimits LIMITS = new StoreLimits(
            new WatchCache.Limits(100_000, 300_000_000_000L, 128L << 20, 512L << 20), 2L << 30, 512L << 20);

    private final SimNetwork network;
    private final RandomGenerator seeds;
    private final List<ApiWatcher> observers = new ArrayList<>();
    private final MemoryJournal disk = new MemoryJournal();
    private Optional<ApiServer> core = Optional.empty();
    /** The thread that waits for the disk. */
    private Optional<VirtualTime.VirtualLoop> store = Optional.empty();

    private boolean diskStalled;

    public SimApiServer(VirtualTime time, SimNetwork network, RandomGenerator seeds) {
        super(time, NAME);
        this.network = network;
        this.seeds = seeds;
    }

    /** {@code observer} sees the current objects and all changes, in this life of the server and the following ones. */
    public void observe(ApiWatcher observer) {
        observers.add(observer);
        core.ifPresent(observer::attach);
    }

    @Override
    void boot(VirtualTime.VirtualLoop loop) {
        // As in a real process: the store's thread hangs with the disk, while others still serve reads from memory.
        VirtualTime.VirtualLoop writing = thread("store");
        IndexedStore opened = new IndexedStore(writing, disk, LIMITS);
        ApiServer server = new ApiServer(
                opened, writing, Randoms.seeded(seeds.nextLong()), new Authenticator(Map.of()), "apiserver:6443");
        store = Optional.of(writing);
        core = Optional.of(server);
        if (diskStalled) {
            writing.freeze();
        }
        server.start(EVENT_TTL);
        network.serverUp(new ServerCore(loop, server));
        observers.forEach(observer -> observer.attach(server));
    }

    @Override
    void halt() {
        store = Optional.empty();
        core = Optional.empty();
        network.serverDown();
    }

    @Override
    boolean isHealthy() {
        return super.isHealthy() && !diskStalled;
    }

    @Override
    void thaw() {
        super.thaw();
        if (diskStalled) {
            store.ifPresent(VirtualTime.VirtualLoop::freeze);
        }
    }

    /** Makes writes to the disk hang, and with them what waits for a write: acknowledgements and watch events. */
    void stallDisk() {
        diskStalled = true;
        store.ifPresent(VirtualTime.VirtualLoop::freeze);
    }

    /** Makes the disk work again; the hung writes continue. */
    void resumeDisk() {
        diskStalled = false;
        if (!isFrozen()) {
            store.ifPresent(VirtualTime.VirtualLoop::thaw);
        }
    }
}
