package io.nodekeeper.controller.history;

import io.nodekeeper.api.Failures;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores decisions on disk within a size limit; they survive any kind of process end. One worker does all file work in
 * order and in batches. A disk that is full, broken or stuck affects only the history: decisions that cannot be written
 * are counted, logged once, and stay in memory for a while. Confined to the controller's loop, but {@link #close} may
 * be called from anywhere.
 */
public final class FileHistory implements SearchableHistory {
    private static final Logger log = LoggerFactory.getLogger(FileHistory.class);
    /** The deadline of one batch. A stalled disk may take tens of seconds, and no other work waits for it. */
    private static final Duration WRITE_TIMEOUT = Duration.ofSeconds(60);
    /** The deadline of a query: reading the default 64 MiB takes about a second, and up to ten on a slow disk. */
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(10);
    /**
     * How long a stop waits for the last batch: a healthy disk takes milliseconds, and a stop must not wait long for a
     * broken one.
     */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(3);
    /**
     * The most decisions that wait for a slow disk, about 10 MB; further ones are lost. It is enough for the verdicts
     * of a mass failure of 5,000 nodes.
     */
    private static final int WAITING = 10_000;

    private final Segments segments;
    private final Loop loop;
    private final ControllerMetrics metrics;
    private final Workers worker;
    private final MemoryHistory memory = new MemoryHistory();
    private List<Decision> waiting = new ArrayList<>();
    private CompletableFuture<?> writing;
    private boolean busy;
    private boolean failing;

    /** The result of reading. */
    private record Found(List<Decision> decisions, List<String> damaged) {}

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
                                failed(0, error);
                            } else if (torn > 0) {
                                log.warn("History {}: a torn line of {} bytes was dropped", segments, torn);
                            }
                            next();
                            return null;
                        },
                        loop);
    }

    /** Reads the decisions in a directory, to which another process may be writing. Blocks. */
    public static List<Decision> read(Path directory, DecisionQuery query, Consumer<String> damaged)
            throws IOException {
        DecisionQuery.Sieve sieve = query.sieve();
        new Segments(directory, Long.MAX_VALUE).read(sieve::offer, damaged);
        return sieve.kept();
    }

    @Override
    public void add(Decision decision) {
        memory.add(decision);
        if (waiting.size() >= WAITING) {
            failed(1, new IOException(WAITING + " decisions wait for the disk"));
            return;
        }
        waiting.add(decision);
        if (!busy) {
            next();
        }
    }

    private void next() {
        busy = !waiting.isEmpty();
        if (!busy) {
            return;
        }
        List<Decision> batch = waiting;
        waiting = new ArrayList<>();
        writing = onWorker("writing " + batch.size() + " decisions", WRITE_TIMEOUT, () -> {
                    segments.append(batch);
                    metrics.historyBytes(segments.size());
                    return batch.size();
                })
                .handleAsync(
                        (written, error) -> {
                            if (error != null) {
                                failed(batch.size(), error);
                            } else if (failing) {
                                failing = false;
                                log.info("History {} is writable again", segments);
                            }
                            next();
                            return null;
                        },
                        loop);
    }

    private void failed(int lost, Throwable error) {
        metrics.historyLost(lost);
        if (!failing) {
            failing = true;
            log.warn(
                    "History {} is not writable: {}; decisions are not stored until it is; nothing else is affected",
                    segments,
                    reason(error));
        }
    }

    @Override
    public CompletableFuture<List<Decision>> find(DecisionQuery query) {
        CompletableFuture<List<Decision>> answer = new CompletableFuture<>();
        // The worker does this after the current batch.
        onWorker("reading " + segments, READ_TIMEOUT, () -> {
                    List<String> damaged = new ArrayList<>();
                    DecisionQuery.Sieve sieve = query.sieve();
                    segments.read(sieve::offer, damaged::add);
                    return new Found(sieve.kept(), damaged);
                })
                .whenComplete((found, error) -> loop.execute(() -> {
                    if (error != null || failing || busy) {
                        // Some of the newest are only in memory.
                        merged(query, error == null ? found.decisions() : List.of(), answer);
                    } else {
                        answer.complete(found.decisions());
                    }
                    if (error != null) {
                        log.warn(
                                "History {} cannot be read: {}; showing only decisions in memory",
                                segments,
                                reason(error));
                    } else if (!found.damaged().isEmpty()) {
                        log.warn("History {}: unreadable: {}", segments, String.join("; ", found.damaged()));
                    }
                }));
        return answer;
    }

    private void merged(DecisionQuery query, List<Decision> onDisk, CompletableFuture<List<Decision>> answer) {
        memory.find(query).thenAccept(inMemory -> {
            DecisionQuery.Sieve sieve = query.sieve();
            onDisk.forEach(sieve::offer);
            inMemory.stream().filter(decision -> !onDisk.contains(decision)).forEach(sieve::offer);
            answer.complete(sieve.kept());
        });
    }

    @Override
    public void close() {
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
