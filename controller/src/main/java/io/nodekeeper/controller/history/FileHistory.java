package io.nodekeeper.controller.history;

import io.nodekeeper.api.Failures;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores decisions on disk within a size limit; they survive any kind of process end. One worker does all file work in
 * order: it writes in batches, and reads for one query at a time. A disk that is full, broken or stuck affects only the
 * history: decisions that cannot be written are counted, logged once, and the newest of them stay in memory. Confined
 * to the controller's loop, but {@link #close} may be called from anywhere.
 */
public final class FileHistory implements SearchableHistory {
    private static final Logger log = LoggerFactory.getLogger(FileHistory.class);
    /** The deadline of one batch. A stalled disk may take tens of seconds, and no other work waits for it. */
    private static final Duration WRITE_TIMEOUT = Duration.ofSeconds(60);
    /**
     * How long a query may read, with the time that it waits; then it answers with what it has found. Enough for a history of
     * 512 MiB on a disk that reads 64 MiB/s.
     */
    private static final Duration READ_TIME = Duration.ofSeconds(8);
    /** The deadline of a query, if the disk does not even give a block of a file. */
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(10);
    /**
     * The most queries that read or wait for their turn; further ones are refused. They run one after the other, so
     * more would only wait until their time is over.
     */
    private static final int MOST_READS = 8;
    /** The most unreadable lines that the log names for a query. */
    private static final int MOST_DAMAGED = 10;
    /**
     * How long a stop waits for the last batch: a healthy disk takes milliseconds, and a stop must not wait long for a
     * broken one.
     */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(3);
    /**
     * The most memory of decisions that wait for a slow disk or are being written, in bytes; further ones are lost. A
     * controller that starts adds one for each node at once: it is enough for 50,000 nodes.
     */
    private static final long WAITING = 32 << 20;

    /** The most decisions that could not be stored and stay in memory, about 4 MB; the oldest are dropped. */
    private static final int LOST = 4_096;
    /** The most memory of those, in bytes. */
    private static final long LOST_BYTES = 16 << 20;

    private final Segments segments;
    private final Loop loop;
    private final ControllerMetrics metrics;
    private final Workers worker;
    private final MemoryHistory memory = new MemoryHistory();
    private final SizedDecisions lost = new SizedDecisions();
    /** The latest time of a decision that was dropped from {@link #lost}. */
    private Optional<Instant> droppedUntil = Optional.empty();

    private SizedDecisions batch = new SizedDecisions();
    private SizedDecisions waiting = new SizedDecisions();
    private CompletableFuture<?> writing;
    private boolean busy;
    private boolean failing;
    /** At most {@link #MOST_READS}. */
    private int reads;
    /** Read by the worker. */
    private volatile boolean closing;

    /**
     * A history in {@code directory}, which is created if it does not exist. Starts to write immediately, and never
     * throws.
     * @param bound the most bytes on disk; the oldest decisions are deleted first
     * @param loop the controller's
     */
    public FileHistory(Path directory, long bound, Loop loop, ControllerMetrics metrics) {
        this.segments = new Segments(directory, bound);
        this.loop = loop;
        this.metrics = metrics;
        this.worker = new Workers("history", 1, loop);
        this.busy = true;
        this.writing = onWorker("opening " + directory, WRITE_TIMEOUT, () -> {
                    long torn = segments.repair();
                    metrics.historyBytes(segments.size());
                    return torn;
                })
                .handleAsync(
                        (torn, error) -> {
                            if (error != null) {
                                failed(List.of(), error);
                            } else if (torn > 0) {
                                log.warn("History {}: a torn line of {} bytes was dropped", segments, torn);
                            }
                            next();
                            return null;
                        },
                        loop);
    }

    /** Reads the decisions in a directory, to which another process may be writing, however long that takes. Blocks. */
    public static <R> R read(Path directory, Search<R> search, Consumer<String> damaged) throws IOException {
        Search.Sieve<R> sieve = search.sieve();
        new SegmentSearch(search, sieve, new Unstored(List.of()), () -> false, damaged)
                .run(new Segments(directory, Long.MAX_VALUE));
        return sieve.answer();
    }

    @Override
    public void add(Decision decision) {
        memory.add(decision);
        if (batch.bytes() + waiting.bytes() + decision.bytes() > WAITING) {
            int number = batch.size() + waiting.size();
            failed(List.of(decision), new IOException(number + " decisions wait for the disk"));
            return;
        }
        waiting.add(decision);
        if (!busy) {
            next();
        }
    }

    private void next() {
        busy = !waiting.isEmpty();
        batch = waiting;
        waiting = new SizedDecisions();
        if (!busy) {
            return;
        }
        List<Decision> next = List.copyOf(batch.all());
        writing = onWorker("writing " + next.size() + " decisions", WRITE_TIMEOUT, () -> {
                    segments.append(next);
                    metrics.historyBytes(segments.size());
                    return next.size();
                })
                .handleAsync(
                        (written, error) -> {
                            if (error != null) {
                                failed(next, error);
                            } else if (failing) {
                                failing = false;
                                log.info("History {} is writable again", segments);
                            }
                            next();
                            return null;
                        },
                        loop);
    }

    private void failed(List<Decision> decisions, Throwable error) {
        metrics.historyLost(decisions.size());
        decisions.forEach(lost::add);
        while (lost.size() > LOST || lost.bytes() > LOST_BYTES) {
            droppedUntil = Optional.of(
                    MemoryHistory.later(droppedUntil, lost.removeFirst().at()));
        }
        if (!failing) {
            failing = true;
            log.warn(
                    "History {} is not writable: {}; decisions are not stored until it is; nothing else is affected",
                    segments,
                    reason(error));
        }
    }

    @Override
    public <R> CompletableFuture<R> find(Search<R> search) {
        if (reads == MOST_READS) {
            return CompletableFuture.failedFuture(new RejectedExecutionException(
                    "the history is being read for " + MOST_READS + " other requests; try again in some seconds"));
        }
        reads++;
        CompletableFuture<R> answer = new CompletableFuture<>();
        Search.Sieve<R> sieve = search.sieve();
        droppedUntil.ifPresent(sieve::deletedUntil);
        List<Decision> unstored = unstored();
        List<String> damaged = new ArrayList<>();
        BooleanSupplier isOver = readTime();
        // The worker does this after the current batch.
        onWorker("reading " + segments, READ_TIMEOUT, () -> {
                    new SegmentSearch(search, sieve, new Unstored(unstored), isOver, line -> addTo(damaged, line))
                            .run(segments);
                    return true;
                })
                .whenComplete((done, error) -> loop.execute(() -> {
                    reads--;
                    if (error != null) {
                        log.warn(
                                "History {} cannot be read: {}; showing only decisions in memory",
                                segments,
                                reason(error));
                        // A worker that is stuck may still offer to the other sieve.
                        answer.complete(inMemory(search.sieve()));
                        return;
                    }
                    answer.complete(sieve.answer());
                    if (!damaged.isEmpty()) {
                        log.warn("History {}: unreadable: {}", segments, String.join("; ", damaged));
                    }
                }));
        return answer;
    }

    /** Whether the time of a query that begins now is over; always when this history is closed, which must not wait. */
    private BooleanSupplier readTime() {
        long begin = loop.clock().nanoTime();
        return () -> closing || loop.clock().nanoTime() - begin > READ_TIME.toNanos();
    }

    private static void addTo(List<String> damaged, String line) {
        if (damaged.size() < MOST_DAMAGED) {
            damaged.add(line);
        }
    }

    /** The decisions that are lost, being written, or wait. */
    private List<Decision> unstored() {
        List<Decision> decisions = new ArrayList<>(lost.all());
        decisions.addAll(batch.all());
        decisions.addAll(waiting.all());
        return decisions;
    }

    private <R> R inMemory(Search.Sieve<R> sieve) {
        sieve.unreadUntil(memory.completeSince().orElseGet(loop.clock()::wallTime));
        memory.offerTo(sieve);
        return sieve.answer();
    }

    @Override
    public void close() {
        closing = true;
        CompletableFuture<Void> written = new CompletableFuture<>();
        loop.execute(() -> drain(written));
        try {
            written.get(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            log.warn(
                    "History {}: the last decisions were not written within {}",
                    segments,
                    GoDuration.format(CLOSE_TIMEOUT));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            worker.close();
            release();
        }
    }

    private void release() {
        try {
            segments.release();
        } catch (IOException e) {
            log.warn("History {}: its lock was not released: {}", segments, reason(e));
        }
    }

    private void drain(CompletableFuture<Void> drained) {
        if (busy) {
            writing.whenComplete((done, error) -> loop.execute(() -> drain(drained)));
        } else {
            drained.complete(null);
        }
    }

    /** A file operation. */
    private interface FileWork<T> {
        T run() throws IOException;
    }

    private <T> CompletableFuture<T> onWorker(String what, Duration deadline, FileWork<T> work) {
        return worker.call(what, deadline, work::run);
    }

    private static String reason(Throwable error) {
        Throwable cause = error instanceof CompletionException ? Failures.cause(error) : error;
        return cause.getClass().getSimpleName() + ": " + Failures.text(cause);
    }
}
