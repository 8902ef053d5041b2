package io.nodekeeper.simulator;

import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/** A simulated network of one API server and its clients with random message delays. Confined to virtual time. */
final class SimNetwork {
    /** The fastest message, 0.2 ms: two machines in one rack. */
    private static final long FASTEST_NANOS = 200_000;
    /**
     * The slowest message on a healthy cable, 2 ms: two data centres of one region. Verdict bounds count a few messages
     * of this length; a larger value would need larger bounds, a smaller one would reorder fewer messages.
     */
    private static final long SLOWEST_NANOS = 2_000_000;

    private final VirtualTime.VirtualLoop wire;
    private final RandomGenerator random;
    private final Set<SimTransport> transports = new LinkedHashSet<>();
    private Optional<ServerCore> server = Optional.empty();

    SimNetwork(VirtualTime time, RandomGenerator random) {
        this.wire = time.loop("network");
        this.random = random;
    }

    /** The transport to the API server for one process that authenticates as {@code user}. */
    SimTransport connect(Cable cable, User user) {
        SimTransport transport = new SimTransport(this, cable, user);
        transports.add(transport);
        return transport;
    }

    void disconnected(SimTransport transport) {
        transports.remove(transport);
    }

    /** Makes a server listen. */
    void serverUp(ServerCore core) {
        server = Optional.of(core);
    }

    /** The server's process has died: breaks its connections and refuses new ones. */
    void serverDown() {
        server = Optional.empty();
        List.copyOf(transports).forEach(transport -> transport.breakAll("connection reset by the API server"));
    }

    /** The cable was cut: breaks all connections over it. */
    void cableCut(Cable cable) {
        List.copyOf(transports).stream()
                .filter(transport -> transport.uses(cable))
                .forEach(transport -> transport.breakAll("network is unreachable"));
    }

    Optional<ServerCore> server() {
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
