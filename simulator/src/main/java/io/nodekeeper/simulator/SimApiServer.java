package io.nodekeeper.simulator;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.Authenticator;
import io.nodekeeper.store.IndexedStore;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.Map;
import java.util.random.RandomGenerator;

/** Store and API server core on a disk that outlives them. Confined to virtual time. */
final class SimApiServer extends SimProcess {
    static final String NAME = "apiserver";
    /** Kubernetes' default. */
    private static final Duration EVENT_TTL = Duration.ofHours(1);

    private final SimNetwork network;
    private final RandomGenerator seeds;
    private final Observer observer;
    private final MemoryJournal disk = new MemoryJournal();

    SimApiServer(VirtualTime time, SimNetwork network, RandomGenerator seeds, Observer observer) {
        super(time, NAME);
        this.network = network;
        this.seeds = seeds;
        this.observer = observer;
    }

    @Override
    void boot(VirtualTime.VirtualLoop loop) {
        IndexedStore store = new IndexedStore(loop, disk);
        ApiServer core = new ApiServer(
                store, loop, Randoms.seeded(seeds.nextLong()), new Authenticator(Map.of()), "apiserver:6443");
        core.start(EVENT_TTL);
        network.serverUp(new ServerCore(loop, core));
        observer.attach(core);
    }

    @Override
    void halt() {
        network.serverDown();
    }
}
