package io.nodekeeper.simulator.network;

import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/** A simulated network of one API server and its clients with random message delays. Confined to virtual time. */
public final class SimNetwork {
    /** The fastest message, 0.2 ms: two machines in one rack. */
    private static final long FASTEST_NANOS = 200_000;
    /**
     * The slowest message on a healthy cable, 2 ms: two data centres of one region. Verdict bounds count a few messages
     * of this length; a larger value would need larger bounds, a smaller one would reorder fewer messages.
     */
    private static final long SLOWEST_NANOS = 2_000_000;

    private final VirtualTime.VirtualLoop wire;
    private final RandomGenerator random;
    private final Set<SimConnection> connections = new LinkedHashSet<>();
    private Optional<ServerCore> server = Optional.empty();

    public SimNetwork(VirtualTime time, RandomGenerator random) {
        this.wire = time.loop("network");
        this.random = random;
    }

    /** A process has a connection to the API server from now on. */
    void connected(SimConnection connection) {
        connections.add(connection);
    }

    /** The connection of a process has ended. */
    void disconnected(SimConnection connection) {
        connections.remove(connection);
    }

    /** Makes a server listen. */
    public void serverUp(ServerCore core) {
        server = Optional.of(core);
    }

    /** The server's process has died: breaks its connections and refuses new ones. */
    public void serverDown() {
        server = Optional.empty();
        List.copyOf(connections).forEach(connection -> connection.breakAll("connection reset by the API server"));
    }

    /** The cable was cut: breaks all connections over it. */
    public void cableCut(Cable cable) {
        List.copyOf(connections).stream()
                .filter(connection -> connection.uses(cable))
                .forEach(connection -> connection.breakAll("network is unreachable"));
    }

    public Optional<ServerCore> server() {
        return server;
    }

    long now() {
        return wire.nanoTime();
    }

    /** The arrival time, in nanoseconds, of a message sent now. */
    long arrival(Cable cable) {
        return now()
                + random.nextLong(FASTEST_NANOS, SLOWEST_NANOS)
                + cable.extra().toNanos();
    }

    /** Delivers {@code message} over the cable at {@code when}. */
    void send(Cable cable, long when, Runnable message) {
        wire.schedule(Duration.ofNanos(when - now()), () -> cable.deliver(message));
    }

    /** Delivers a watch event of {@code resource} over the cable at {@code when}. */
    void sendWatched(Cable cable, String resource, long when, Runnable message) {
        wire.schedule(Duration.ofNanos(when - now()), () -> cable.deliverWatched(resource, message));
    }

    /** Reports to a client, after a delay, a failure that its own end of the connection detects without the cable. */
    void tell(Cable cable, Runnable news) {
        wire.schedule(Duration.ofNanos(arrival(cable) - now()), news);
    }
}
