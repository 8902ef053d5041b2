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
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renames the logs of running containers that have become large, and lets the runtime open new ones. Each container has its own
 * chain of calls with deadlines; while one hangs, that container's log waits and the others go on. Confined to its loop.
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
    private final Loop loop;
    /** The containers whose logs are being looked at or rotated: as many as run at most. */
    private final Set<String> busy = new HashSet<>();

    /** The log of a running container. */
    public record RunningLog(String id, Path path) {}

    /**
     * A rotation that begins with the first {@link #tick}.
     *
     * @param runtime whose answers come on {@code loop}
     * @param logs those of all running containers, from memory
     * @param disk which nothing else uses: to compress takes long
     */
    public LogRotation(
            ContainerLogConfig config,
            ContainerRuntime runtime,
            Duration callDeadline,
            Supplier<List<RunningLog>> logs,
            BlockingCalls disk,
            Loop loop) {
        this.config = config;
        this.runtime = runtime;
        this.callDeadline = callDeadline;
        this.logs = logs;
        this.disk = disk;
        this.loop = loop;
    }

    /** Looks at all logs; to be called once in each interval. Waits for nothing. */
    public void tick() {
        List<RunningLog> due = new ArrayList<>(logs.get());
        due.removeIf(each -> !busy.add(each.id()));
        if (due.isEmpty()) {
            return;
        }
        onLoop("sizes of logs", () -> {
                    List<Found> found = new ArrayList<>();
                    for (RunningLog each : due) {
                        found.add(new Found(each, LogFiles.size(each.path()).orElse(-1)));
                    }
                    return found;
                })
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
            work = onLoop(
                            "rotation of " + each.path(),
                            () -> LogFiles.rotate(
                                    each.path(), config.maxFiles(), loop.clock().wallTime()))
                    .thenCompose(rotated -> reopen(each).exceptionallyCompose(error -> restore(each, rotated, error)));
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
        return onLoop("rotation of " + each.path(), () -> {
                    LogFiles.restore(rotated, each.path());
                    return RuntimeCall.Done.DONE;
                })
                .thenCompose(done -> CompletableFuture.failedFuture(Failures.cause(why)));
    }

    private CompletableFuture<RuntimeCall.Done> reopen(RunningLog each) {
        return runtime.call(new RuntimeCall.ReopenLog(each.id()), callDeadline);
    }

    private <T> CompletableFuture<T> onLoop(String what, Callable<T> work) {
        return loop.deliver(disk.call(what, FILES, work));
    }
}
