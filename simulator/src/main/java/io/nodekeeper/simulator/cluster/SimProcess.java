package io.nodekeeper.simulator.cluster;

import io.nodekeeper.simulator.network.Cable;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** One process of the cluster on its own machine, into which faults can be injected. Confined to virtual time. */
abstract class SimProcess {
    private final VirtualTime time;
    private final String name;
    private final Cable cable = new Cable();
    /** The threads of a running process. */
    private final List<VirtualTime.VirtualLoop> loops = new ArrayList<>();

    private Duration skew = Duration.ZERO;
    private boolean frozen;

    SimProcess(VirtualTime time, String name) {
        this.time = time;
        this.name = name;
    }

    /** Starts the parts of the process, on a new loop. */
    abstract void boot(VirtualTime.VirtualLoop loop);

    /** Releases the rest of the process; its loop is closed already. */
    abstract void halt();

    String name() {
        return name;
    }

    Cable cable() {
        return cable;
    }

    /** Whether it runs without a fault. */
    boolean isHealthy() {
        return isRunning() && !frozen && cable.isWhole();
    }

    boolean isRunning() {
        return !loops.isEmpty();
    }

    boolean isFrozen() {
        return frozen;
    }

    public void start() {
        if (isRunning()) {
            throw new IllegalStateException(name + " runs already");
        }
        boot(thread(name));
    }

    /** Creates another thread of the process. */
    VirtualTime.VirtualLoop thread(String called) {
        VirtualTime.VirtualLoop loop = time.loop(called);
        loop.skewWallClock(skew);
        loops.add(loop);
        return loop;
    }

    public void crash() {
        running().forEach(VirtualTime.VirtualLoop::close);
        loops.clear();
        frozen = false;
        cable.forget();
        halt();
    }

    void freeze() {
        running().forEach(VirtualTime.VirtualLoop::freeze);
        frozen = true;
    }

    void thaw() {
        frozen = false;
        running().forEach(VirtualTime.VirtualLoop::thaw);
    }

    void skewWallClock(Duration by) {
        skew = by;
        loops.forEach(loop -> loop.skewWallClock(by));
    }

    private List<VirtualTime.VirtualLoop> running() {
        if (!isRunning()) {
            throw new IllegalStateException(name + " does not run");
        }
        return loops;
    }
}
