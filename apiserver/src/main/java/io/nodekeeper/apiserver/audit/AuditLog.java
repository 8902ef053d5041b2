package io.nodekeeper.apiserver.audit;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.time.Loop;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The audit log: takes events and writes them on a loop of its own. No request waits for it: what does not fit into the
 * queue, or cannot be written, is lost, counted and told. Thread-safe.
 */
public final class AuditLog {
    private static final Logger log = LoggerFactory.getLogger(AuditLog.class);
    /** Events that may wait. Chosen: a second of a busy server; some 20 MB. */
    private static final int CAPACITY = 10_000;

    /** Bytes of requests and answers that waiting events may hold on to. An event without large ones has about 2 KB. */
    private static final long BYTES = 16 << 20;

    /** The most lines in one write. Chosen. */
    private static final int BATCH = 256;

    /** How often a loss is told while it lasts. Chosen. */
    private static final Duration TELL = Duration.ofSeconds(30);

    /** Where the lines go. Called on the log's loop alone; may block. */
    public interface Out {
        /** Writes these lines, each of which ends in a line feed, as a whole or not at all as far as that can be had. */
        void write(List<byte[]> lines) throws IOException;

        /** Lets go of what is open. */
        void close() throws IOException;
    }

    /** An event in the queue, and the bytes of {@link #held} that it counts for. */
    private record Waiting(AuditEvent event, long bytes) {}

    private final Loop loop;
    private final Out out;
    private final ConcurrentLinkedQueue<Waiting> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicLong held = new AtomicLong();
    private final AtomicBoolean draining = new AtomicBoolean();
    private final LongAdder taken = new LongAdder();
    private final LongAdder lost = new LongAdder();
    private final AtomicBoolean telling = new AtomicBoolean();

    /** A log that writes to {@code out} on {@code loop}, which it closes in the end. */
    public AuditLog(Loop loop, Out out) {
        this.loop = loop;
        this.out = out;
    }

    /** Takes an event; never waits. */
    public void take(AuditEvent event) {
        if (waiting.incrementAndGet() > CAPACITY) {
            waiting.decrementAndGet();
            lose(1, "the queue of " + CAPACITY + " is full");
            return;
        }
        long bytes = event.bytes();
        if (held.addAndGet(bytes) > BYTES) {
            held.addAndGet(-bytes);
            waiting.decrementAndGet();
            lose(1, "the queue of " + BYTES + " bytes is full");
            return;
        }
        taken.increment();
        queue.add(new Waiting(event, bytes));
        if (draining.compareAndSet(false, true)) {
            loop.execute(this::drain);
        }
    }

    /** Events that were taken. */
    public long taken() {
        return taken.sum();
    }

    /** Events that were lost. */
    public long lost() {
        return lost.sum();
    }

    /** Writes what waits and closes. */
    public CompletableFuture<Void> close() {
        CompletableFuture<Void> closed = new CompletableFuture<>();
        loop.execute(() -> {
            while (!queue.isEmpty()) {
                write();
            }
            try {
                out.close();
            } catch (IOException e) {
                log.error("the audit log does not close: {}", e.getMessage());
            }
            loop.close();
            closed.complete(null);
        });
        return closed;
    }

    private void drain() {
        draining.set(false);
        write();
        if (!queue.isEmpty() && draining.compareAndSet(false, true)) {
            loop.execute(this::drain);
        }
    }

    private void write() {
        List<byte[]> lines = new ArrayList<>();
        Waiting next;
        while (lines.size() < BATCH && (next = queue.poll()) != null) {
            held.addAndGet(-next.bytes());
            lines.add((Json.write(next.event().json()) + "\n").getBytes(StandardCharsets.UTF_8));
        }
        waiting.addAndGet(-lines.size());
        try {
            out.write(lines);
        } catch (IOException e) {
            lose(lines.size(), e.toString());
        }
    }

    private void lose(int count, String why) {
        lost.add(count);
        if (telling.compareAndSet(false, true)) {
            log.error("events are missing in the audit log, {} so far: {}", lost.sum(), why);
            loop.schedule(TELL, () -> telling.set(false));
        }
    }
}
