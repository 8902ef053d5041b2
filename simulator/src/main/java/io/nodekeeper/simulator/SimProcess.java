package io.nodekeeper.simulator;

import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.Optional;

/** One process of the cluster on a machine of its own, which can be made to suffer. Confined to virtual time. */
abstract class SimProcess {
    private final VirtualTime time;
    private final String name;
    private final Cable cable = new Cable();
    private Optional<VirtualTime.VirtualLoop> running = Optional.empty();
    private Duration skew = Duration.ZERO;
    private boolean frozen;

    SimProcess(VirtualTime time, String name) {
        this.time = time;
        this.name = name;
    }

    /** Starts what the process consists of, on a fresh loop. */
    abstract void boot(VirtualTime.VirtualLoop loop);

    /** The loop is closed already: what is left of the process goes, too. */
    abstract void halt();

    String name() {
        return name;
    }

    Cable cable() {
        return cable;
    }

    /** Whether it runs, and can be reached as usual. */
    boolean isHealthy() {
        return running.isPresent() && !frozen && cable.state() == Cable.State.UP;
    }

    void start() {
        if (running.isPresent()) {
            throw new IllegalStateException(name + " runs already");
        }
        VirtualTime.VirtualLoop loop = time.loop(name);
        loop.skewWallClock(skew);
        running = Optional.of(loop);
        boot(loop);
    }

    void crash() {
        loop().close();
        running = Optional.empty();
        frozen = false;
        cable.forget();
        halt();
    }

    void freeze() {
        loop().freeze();
        frozen = true;
    }

    void thaw() {
        frozen = false;
        loop().thaw();
    }

    void skewWallClock(Duration by) {
        skew = by;
        running.ifPresent(loop -> loop.skewWallClock(by));
    }

    private VirtualTime.VirtualLoop loop() {
        return running.orElseThrow(() -> new IllegalStateException(name + " does not run"));
    }
}
