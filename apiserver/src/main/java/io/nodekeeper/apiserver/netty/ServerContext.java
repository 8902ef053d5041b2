package io.nodekeeper.apiserver.netty;

import io.netty.util.concurrent.EventExecutor;
import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.request.StreamSink;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/** The state that all connections of one server share. Thread-safe. */
final class ServerContext {
    final ApiServer server;
    final Executor workers;
    final Dates dates;
    /** The memory of bodies that arrive in several parts. */
    final FairMemoryBudget bodies;
    /** The memory of large unread responses. */
    final MemoryBudget answers;

    private final Set<StreamSink> watches = ConcurrentHashMap.newKeySet();
    private final Map<EventExecutor, Outbox> outboxes = new ConcurrentHashMap<>();
    private volatile boolean stopping;

    ServerContext(ApiServer server, HttpsOptions options) {
        this.server = server;
        workers = options.workers();
        dates = new Dates(options.clock());
        bodies = new FairMemoryBudget(options.memory());
        answers = new MemoryBudget(options.memory());
    }

    /** The outbox of an event loop. */
    Outbox outbox(EventExecutor executor) {
        return outboxes.computeIfAbsent(executor, Outbox::new);
    }

    /** Registers an open watch until it closes. Ends it if the server is stopping. */
    void opened(StreamSink sink) {
        watches.add(sink);
        sink.onClose(() -> watches.remove(sink));
        if (stopping) {
            sink.end();
        }
    }

    /** Starts to refuse requests, and ends all watches. */
    void stop() {
        stopping = true;
        watches.forEach(StreamSink::end);
    }

    boolean stopping() {
        return stopping;
    }
}
