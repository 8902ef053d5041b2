package io.nodekeeper.apiserver.usage;

import io.nodekeeper.api.Failures;
import io.nodekeeper.apiserver.nodecalls.NodeAddress;
import io.nodekeeper.apiserver.request.NodeCall;
import io.nodekeeper.apiserver.request.NodeReader;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks nodes what they use, at most once in 15 s each and only when a client asks. A node that does not answer is
 * unknown for 15 s; after that, until it answers, it is asked again, but no request waits for it. Thread-safe; its state
 * is confined to the loop.
 */
public final class NodeUsage {
    private static final Logger log = LoggerFactory.getLogger(NodeUsage.class);
    /** metrics-server's period. */
    static final Duration FRESH = Duration.ofSeconds(15);
    /** A healthy node answers within milliseconds; its agent waits up to 2 s for a slow disk. */
    static final Duration DEADLINE = Duration.ofMillis(2_500);
    /** After it a node has measured again, if its first answer had no rate: the agent measures at most each 5 s. */
    static final Duration PAUSE = Duration.ofMillis(5_200);
    /** How long a request waits at most; what is unknown by then is left out. */
    static final Duration PATIENCE = Duration.ofSeconds(10);
    /** An earlier answer is compared with a later one for so long. */
    private static final Duration COMPARED = Duration.ofMinutes(2);
    /** Numbers that no request needed for this time are dropped. */
    private static final Duration KEPT = Duration.ofMinutes(5);
    /** 110 pods have some 300 KB. */
    private static final int BYTES = 2 << 20;
    /** Nodes that are asked at the same time; their answers take up to 64 MiB, usually under 10 MB. */
    private static final int AT_ONCE = 32;
    /** Of the nodes that did not answer before; these never take the turns of the others. */
    private static final int SILENT_AT_ONCE = 4;

    private static final String PAGE = "/stats/summary?only_cpu_and_memory=true";

    private final Loop loop;
    private final Executor workers;
    private final Map<String, Known> known = new HashMap<>();
    private final Lane answering = new Lane(AT_ONCE);
    private final Lane silent = new Lane(SILENT_AT_ONCE);
    private volatile NodeReader reader = NodeReader.NONE;

    /** Reads answers on {@code workers}; all nodes are unknown before {@link #readWith}. */
    public NodeUsage(Loop loop, Executor workers) {
        this.loop = loop;
        this.workers = workers;
    }

    /** Asks nodes with {@code reader} from now on. */
    public void readWith(NodeReader newReader) {
        reader = newReader;
    }

    /** What is known about a node; empty if it does not answer in time. Never fails. */
    CompletableFuture<Optional<Measured>> of(String node, NodeAddress place) {
        CompletableFuture<Optional<Measured>> answer = Futures.startOn(loop, () -> ask(node, place));
        return Deadlines.within(loop, PATIENCE, "node " + node, answer).exceptionally(late -> Optional.empty());
    }

    private CompletableFuture<Optional<Measured>> ask(String node, NodeAddress place) {
        long now = loop.clock().nanoTime();
        Known entry = known.get(node);
        if (entry == null || !entry.place.equals(place)) {
            known.values().removeIf(other -> other.open.isDone() && now - other.asked > KEPT.toNanos());
            entry = new Known(node, place);
            known.put(node, entry);
        } else if (entry.open.isDone() && now - entry.ended < FRESH.toNanos()) {
            entry.asked = now;
            return CompletableFuture.completedFuture(entry.measured());
        }
        entry.asked = now;
        if (entry.open.isDone()) {
            entry.open = new CompletableFuture<>();
            entry.again = false;
            begin(entry);
        }
        // A copy: a caller that gives up must not end it for others.
        return entry.silent ? CompletableFuture.completedFuture(Optional.empty()) : entry.open.copy();
    }

    private void begin(Known entry) {
        Lane lane = entry.silent ? silent : answering;
        lane.waiting.add(entry);
        proceed(lane);
    }

    private void proceed(Lane lane) {
        while (lane.running < lane.most && !lane.waiting.isEmpty()) {
            Known next = lane.waiting.remove();
            lane.running++;
            NodeCall call = new NodeCall(next.place.host(), next.place.port(), PAGE, false, true, "");
            Deadlines.within(loop, DEADLINE, "the API of node " + next.node, reader.read(call, BYTES))
                    .thenApplyAsync(NodeSummary::parse, workers)
                    .whenCompleteAsync(
                            (summary, error) -> {
                                lane.running--;
                                if (error == null) {
                                    heard(next, summary);
                                } else {
                                    failed(next, error);
                                }
                                proceed(lane);
                            },
                            loop);
        }
    }

    private void failed(Known entry, Throwable error) {
        if (!entry.silent) {
            log.info("what node {} uses is unknown: {}", entry.node, Failures.text(error));
        }
        entry.silent = true;
        entry.newest = Optional.empty();
        entry.before = Optional.empty();
        entry.ended = loop.clock().nanoTime();
        entry.open.complete(Optional.empty());
    }

    private void heard(Known entry, NodeSummary summary) {
        long now = loop.clock().nanoTime();
        entry.before = now - entry.ended <= COMPARED.toNanos() ? entry.newest : Optional.empty();
        entry.newest = Optional.of(summary);
        entry.silent = false;
        entry.ended = now;
        Measured measured = new Measured(summary, entry.before);
        if (measured.node().isEmpty() && !entry.again) {
            entry.again = true;
            loop.schedule(PAUSE, () -> begin(entry));
        } else {
            entry.open.complete(Optional.of(measured));
        }
    }

    /** Nodes to ask, each in it at most once. */
    private static final class Lane {
        private final int most;
        private final ArrayDeque<Known> waiting = new ArrayDeque<>();
        private int running;

        private Lane(int most) {
            this.most = most;
        }
    }

    /** What is known about one node. */
    private static final class Known {
        private final String node;
        private final NodeAddress place;
        /** Completes when the node has answered, or did not; done if it is not being asked. */
        private CompletableFuture<Optional<Measured>> open = CompletableFuture.completedFuture(Optional.empty());

        private Optional<NodeSummary> newest = Optional.empty();
        private Optional<NodeSummary> before = Optional.empty();
        private long asked;
        private long ended;
        /** Whether it did not answer when it was last asked. */
        private boolean silent;
        /** Whether it was asked a second time, for a rate. */
        private boolean again;

        private Known(String node, NodeAddress place) {
            this.node = node;
            this.place = place;
        }

        private Optional<Measured> measured() {
            return newest.map(summary -> new Measured(summary, before));
        }
    }
}
