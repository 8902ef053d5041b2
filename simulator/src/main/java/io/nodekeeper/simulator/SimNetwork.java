package io.nodekeeper.simulator;

import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/** A network of one API server and its clients, in which every message takes its random time. Confined to virtual time. */
final class SimNetwork {
    /** The fastest message: two machines in one rack. Chosen. */
    private static final long FASTEST_NANOS = 200_000;
    /** The slowest message on a healthy cable. Chosen. */
    private static final long SLOWEST_NANOS = 2_000_000;

    private final VirtualTime.VirtualLoop wire;
    private final RandomGenerator random;
    private final Set<SimTransport> transports = new LinkedHashSet<>();
    private Optional<ServerCore> server = Optional.empty();

    SimNetwork(VirtualTime time, RandomGenerator random) {
        this.wire = time.loop("network");
        this.random = random;
    }

    /** The way to the API server for one process that shows itself as {@code user}. */
    SimTransport connect(Cable cable, User user) {
        SimTransport transport = new SimTransport(this, cable, user);
        transports.add(transport);
        return transport;
    }

    void disconnected(SimTransport transport) {
        transports.remove(transport);
    }

    /** A server listens. */
    void serverUp(ServerCore core) {
        server = Optional.of(core);
    }

    /** The server's process is gone: its connections break, new ones are refused. */
    void serverDown() {
        server = Optional.empty();
        List.copyOf(transports).forEach(transport -> transport.breakAll("connection reset by the API server"));
    }

    /** The cable was cut: all connections over it break. */
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

    /** When a message that is sent now arrives, nanoseconds. */
    long arrival(Cable cable) {
        return now()
                + random.nextLong(FASTEST_NANOS, SLOWEST_NANOS)
                + cable.extra().toNanos();
    }

    /** Has {@code message} arrive over the cable at {@code when}. */
    void send(Cable cable, long when, Runnable message) {
        wire.schedule(Duration.ofNanos(when - now()), () -> cable.deliver(message));
    }

    /** Has what a watch of {@code resource} says arrive over the cable at {@code when}. */
    void sendWatched(Cable cable, String resource, long when, Runnable message) {
        wire.schedule(Duration.ofNanos(when - now()), () -> cable.deliverWatched(resource, message));
    }

    /** Tells a client after a while of what its own end of the connection found out: no cable is needed for that. */
    void tell(Cable cable, Runnable news) {
        wire.schedule(Duration.ofNanos(arrival(cable) - now()), news);
    }
}
