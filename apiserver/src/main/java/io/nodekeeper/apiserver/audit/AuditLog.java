package io.nodekeeper.apiserver.audit;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.time.Loop;
import java.io.IOException;
import java.io.UncheckedIOException;
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
 * The audit log: accepts events and writes them on its own loop. No request waits for it: events that do not fit into
 * the queue, or cannot be written, are lost, counted and reported. Thread-safe.
 */
public final class AuditLog {
    private static final Logger log = LoggerFactory.getLogger(AuditLog.class);
    /** The most events that may wait: a second of a busy server, which covers pauses of a disk, in about 20 MB. */
    private static final int CAPACITY = 10_000;

    /**
     * The most bytes of requests and responses that waiting events may keep in memory. An event without large ones has
     * about 2 KB.
     */
    private static final long BYTES = 16 << 20;

    /**
     * The most lines in one write: about 200 KB, so that system calls are few and a rotation by size is exact to that.
     */
    private static final int BATCH = 256;

    /**
     * How often a continuing loss is logged: soon enough for an operator, and two lines per minute do not fill the log.
     */
    private static final Duration TELL = Duration.ofSeconds(30);

    /** The destination of the lines. Called only on the log's loop; may block. */
    public interface Out {
        /** Writes these lines, each ending in a line feed, atomically as far as possible. */
        void write(List<byte[]> lines) throws IOException;

        /** Closes open files. */
        void close() throws IOException;
    }

    /** An event in the queue, and the bytes of {@link #held} that it counts for. */
    private record Waiting(AuditEvent event, long bytes) {}

    private final Loop loop;
    private final Out out;
    /** Bounded by {@link #CAPACITY} events and {@link #BYTES} bytes, which {@link #take} enforces. */
    private final ConcurrentLinkedQueue<Waiting> queue = new ConcurrentLinkedQueue<>();

    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicLong held = new AtomicLong();
    private final AtomicBoolean draining = new AtomicBoolean();
    private final LongAdder taken = new LongAdder();
    private final LongAdder lost = new LongAdder();
    private final AtomicBoolean telling = new AtomicBoolean();

    /** A log that writes to {@code out} on {@code loop}, which it closes at the end. */
    public AuditLog(Loop loop, Out out) {
        this.loop = loop;
        this.out = out;
    }

    /** Accepts an event; never waits. */
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

    /** The number of accepted events. */
    public long taken() {
        return taken.sum();
    }

    /** The number of lost events. */
    public long lost() {
        return lost.sum();
    }

    /** Writes the waiting events and closes. */
    public CompletableFuture<Void> close() {
        CompletableFuture<Void> closed = new CompletableFuture<>();
        loop.execute(() -> {
            while (!queue.isEmpty()) {
                write();
            }
            try {
                out.close();
            } catch (IOException e) {
                log.error("closing the audit log failed: {}", e.getMessage());
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
        } catch (IOException | UncheckedIOException e) {
            lose(lines.size(), e.toString());
        }
    }

    private void lose(int count, String why) {
        lost.add(count);
        if (telling.compareAndSet(false, true)) {
            log.error("the audit log has lost {} events so far: {}", lost.sum(), why);
            loop.schedule(TELL, () -> telling.set(false));
        }
    }
}
