package io.nodekeeper.apiserver.netty;

import io.netty.util.concurrent.EventExecutor;
import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.flowcontrol.FairMemoryBudget;
import io.nodekeeper.apiserver.flowcontrol.FairWorkQueue;
import io.nodekeeper.apiserver.netty.nodes.NodeIdentity;
import io.nodekeeper.client.relay.Relay;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The state that all connections of one server share. Thread-safe. */
final class ServerContext {
    /** A node has up to 110 pods; logs and streams are for people, so hundreds at a time are many. */
    private static final int RELAYS = 600;

    /** How many threads make pieces at the same time; on a small machine more would only compete. */
    private static final int PIECES_AT_ONCE = 2;

    final ApiServer server;
    /** Makes the pieces of large responses, and compresses others, outside the event loops, fairly among users. */
    final FairWorkQueue pieces;

    final Dates dates;
    /** The memory of bodies that arrive in several parts. */
    final FairMemoryBudget bodies;
    /** The memory of large unread responses. */
    final FairMemoryBudget answers;

    /** The memory of the events that watches have not sent. */
    final UnreadEvents unread;

    /**
     * The open requests that nodes answer, some 400 KB each at most. An upgraded one counts until its client has closed it. One user
     * gets a third of them.
     */
    final FairMemoryBudget relays = new FairMemoryBudget(RELAYS);

    private final Set<Relay> relayed = ConcurrentHashMap.newKeySet();
    private volatile Optional<NodeIdentity.Tls> nodes;
    private final Set<UnreadEvents.Watch> watches = ConcurrentHashMap.newKeySet();
    private final Map<EventExecutor, Outbox> outboxes = new ConcurrentHashMap<>();
    private volatile boolean stopping;

    ServerContext(ApiServer server, HttpsOptions options, Optional<NodeIdentity.Tls> nodes) {
        this.server = server;
        pieces = new FairWorkQueue(options.workers(), PIECES_AT_ONCE, options.clock());
        dates = new Dates(options.clock());
        bodies = new FairMemoryBudget(options.memory());
        answers = FairMemoryBudget.withWholes(options.memory());
        unread = new UnreadEvents(options.memory(), watches);
        this.nodes = nodes;
    }

    /** The outbox of an event loop. */
    Outbox outbox(EventExecutor executor) {
        return outboxes.computeIfAbsent(executor, Outbox::new);
    }

    /** Registers an open watch until it closes. Ends it if the server is stopping. */
    void opened(UnreadEvents.Watch sink) {
        watches.add(sink);
        sink.onClose(() -> watches.remove(sink));
        if (stopping) {
            sink.end();
        }
    }

    /** Registers a request that a node answers, until it is {@link #relayed}. */
    void relaying(Relay relay) {
        relayed.add(relay);
        if (stopping) {
            relay.stop();
        }
    }

    void relayed(Relay relay) {
        relayed.remove(relay);
    }

    /** How to connect to nodes; empty if this server does not. */
    Optional<NodeIdentity.Tls> nodes() {
        return nodes;
    }

    /** Shows another certificate to nodes from now on. */
    void nodes(NodeIdentity identity) {
        nodes = Optional.of(identity.tls());
    }

    /** Starts to refuse requests, and ends all watches and streams. */
    void stop() {
        stopping = true;
        relayed.forEach(Relay::stop);
        watches.forEach(UnreadEvents.Watch::end);
    }

    boolean stopping() {
        return stopping;
    }
}
