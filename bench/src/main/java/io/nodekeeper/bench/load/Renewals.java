package io.nodekeeper.bench.load;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;

/**
 * Renews the fleet's leases in turn. Closed loop: each connection renews again as soon as it is answered. Open loop:
 * renewals are due at a fixed rate, whatever happened to earlier ones, and latency counts from the time at which a
 * renewal was due, so that a stalled server cannot hide it. Confined to the event loop.
 */
final class Renewals implements Clients.Work {
    /** The acknowledged revisions, minus {@code from}. */
    private final BitSet acknowledged;

    private final Fleet fleet;
    private final long from;
    /** Nanoseconds between renewals; 0 for a closed loop. */
    private final double interval;

    private final long start = System.nanoTime();
    private final BitSet underWay;
    private final Histogram latencies = new Histogram(60_000_000_000L, 2);
    private final Map<Integer, Long> refusals = new TreeMap<>();
    private Optional<String> firstRefusal = Optional.empty();
    private long sent;
    private long done;
    private int node;

    /** {@code rate}: renewals per second; 0 for as many as possible. */
    Renewals(Fleet fleet, BitSet acknowledged, long from, double rate) {
        this.fleet = fleet;
        this.acknowledged = acknowledged;
        this.from = from;
        this.interval = rate == 0 ? 0 : 1e9 / rate;
        this.underWay = new BitSet(fleet.size());
    }

    long done() {
        return done;
    }

    /** Latencies in nanoseconds. */
    Histogram latencies() {
        return latencies;
    }

    /** The number of responses for each other status. */
    Map<Integer, Long> refusals() {
        return refusals;
    }

    Optional<String> firstRefusal() {
        return firstRefusal;
    }

    /** The number of renewals that are due but not sent. */
    long late() {
        return interval == 0 ? 0 : Math.max(0, (long) ((System.nanoTime() - start) / interval) - sent);
    }

    @Override
    public boolean next(KeepAliveConnection exchange) {
        long now = System.nanoTime();
        long due = interval == 0 ? now : start + (long) (sent * interval);
        if (due > now || underWay.get(node)) {
            return false;
        }
        exchange.about = node;
        exchange.due = due;
        underWay.set(node);
        sent++;
        exchange.send(fleet.renewal(exchange, node, due));
        node = node + 1 == fleet.size() ? 0 : node + 1;
        return true;
    }

    @Override
    public void answered(KeepAliveConnection exchange, int status, ByteBuf body) {
        underWay.clear(exchange.about);
        if (status != 200) {
            refusals.merge(status, 1L, Long::sum);
            if (firstRefusal.isEmpty()) {
                firstRefusal = Optional.of(status + " " + body.toString(StandardCharsets.UTF_8));
            }
            return;
        }
        fleet.stored(exchange.about, body);
        acknowledged.set((int) (fleet.version(exchange.about) - from));
        latencies.recordValue(Math.min(System.nanoTime() - exchange.due, latencies.getHighestTrackableValue()));
        done++;
    }
}
