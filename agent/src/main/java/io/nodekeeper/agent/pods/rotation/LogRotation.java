package io.nodekeeper.agent.pods.rotation;

import io.nodekeeper.agent.config.ContainerLogConfig;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.Loop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renames the logs of running containers that have become large, lets the runtime open new ones, and compresses older ones. Each container
 * has its own chain of calls with deadlines; while one hangs, that container's log waits and the others go on. Confined to its loop.
 */
public final class LogRotation {
    private static final Logger log = LoggerFactory.getLogger(LogRotation.class);
    /** The most time for the files of one container: some seconds suffice to compress 10 MiB on a slow disk. */
    private static final Duration FILES = Duration.ofMinutes(2);

    private final ContainerLogConfig config;
    private final ContainerRuntime runtime;
    private final Duration callDeadline;
    private final Supplier<List<RunningLog>> logs;
    private final BlockingCalls disk;
    private final BlockingCalls compression;
    private final Loop loop;
    /** The containers whose logs are being looked at or rotated: as many as run at most. */
    private final Set<String> busy = new HashSet<>();
    /** Those whose files a thread works on, also beyond the deadline: as many as there are threads at most. */
    private final Set<String> working = ConcurrentHashMap.newKeySet();

    /** The log of a running container. */
    public record RunningLog(String id, Path path) {}

    /**
     * A rotation that begins with the first {@link #tick}.
     *
     * @param runtime whose answers come on {@code loop}
     * @param logs those of all running containers, from memory
     * @param disk for what takes ms
     * @param compression which nothing else uses: it takes long
     */
    public LogRotation(
            ContainerLogConfig config,
            ContainerRuntime runtime,
            Duration callDeadline,
            Supplier<List<RunningLog>> logs,
            BlockingCalls disk,
            BlockingCalls compression,
            Loop loop) {
        this.config = config;
        this.runtime = runtime;
        this.callDeadline = callDeadline;
        this.logs = logs;
        this.disk = disk;
        this.compression = compression;
        this.loop = loop;
    }

    /** Looks at all logs; to be called once in each interval. Waits for nothing. */
    public void tick() {
        List<RunningLog> due = new ArrayList<>(logs.get());
        due.removeIf(each -> working.contains(each.id()) || !busy.add(each.id()));
        if (due.isEmpty()) {
            return;
        }
        loop.deliver(disk.call("sizes of logs", FILES, () -> {
                    List<Found> found = new ArrayList<>();
                    for (RunningLog each : due) {
                        found.add(new Found(each, LogFiles.size(each.path()).orElse(-1)));
                    }
                    return found;
                }))
                .whenComplete((found, error) -> {
                    if (error != null) {
                        log.warn("Sizes of logs are not known: {}", Failures.text(error));
                        due.forEach(each -> busy.remove(each.id()));
                    } else {
                        found.forEach(this::handle);
                    }
                });
    }

    /** A log with its bytes; -1 if it does not exist. */
    private record Found(RunningLog log, long size) {}

    private void handle(Found found) {
        RunningLog each = found.log();
        CompletableFuture<?> work = CompletableFuture.completedFuture(null);
        if (found.size() < 0) {
            // It was renamed by an agent that ended before the runtime was asked, or by another process.
            work = reopen(each);
        } else if (found.size() >= config.maxSize()) {
            work = onFiles(
                            disk,
                            each,
                            "rotation",
                            () -> LogFiles.rotate(
                                    each.path(), config.maxFiles(), loop.clock().wallTime()))
                    .thenCompose(rotated -> reopen(each)
                            .exceptionallyCompose(error -> restore(each, rotated.path(), error))
                            .thenCompose(done -> compress(each, rotated.older())));
        }
        work.whenComplete((done, error) -> {
            busy.remove(each.id());
            if (error != null) {
                log.warn("Log {} is not rotated: {}", each.path(), Failures.text(error));
            }
        });
    }

    /** The runtime still writes to the renamed file: it has its name back, for the next round. */
    private CompletableFuture<RuntimeCall.Done> restore(RunningLog each, Path rotated, Throwable why) {
        return onFiles(disk, each, "rotation", () -> {
                    LogFiles.restore(rotated, each.path());
                    return RuntimeCall.Done.DONE;
                })
                .thenCompose(done -> CompletableFuture.failedFuture(Failures.cause(why)));
    }

    private CompletableFuture<RuntimeCall.Done> reopen(RunningLog each) {
        return runtime.call(new RuntimeCall.ReopenLog(each.id()), callDeadline);
    }

    /**
     * Comes last, because a container can write more than can be compressed in time. What is left the next rotation removes, or it is
     * compressed after that.
     */
    private CompletableFuture<String> compress(RunningLog each, List<Path> older) {
        if (older.isEmpty()) {
            return CompletableFuture.completedFuture("");
        }
        return onFiles(compression, each, "compression", () -> {
                    for (Path file : older) {
                        LogFiles.compress(file);
                    }
                    return "";
                })
                .exceptionally(error -> {
                    log.warn("Older logs than {} are not compressed: {}", each.path(), Failures.text(error));
                    return "";
                });
    }

    /** Runs {@code work} on the files of a container, whose log is left alone until that has ended, also if it was given up. */
    private <T> CompletableFuture<T> onFiles(BlockingCalls threads, RunningLog each, String what, Callable<T> work) {
        return loop.deliver(threads.call(what + " of " + each.path(), FILES, () -> {
            working.add(each.id());
            try {
                return work.call();
            } finally {
                working.remove(each.id());
            }
        }));
    }
}
