package io.nodekeeper.cri.plugin;

import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.ThreadPool;
import io.nodekeeper.time.TimerThread;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;

/**
 * Calls plugins over gRPC, each time over a new connection, as a kubelet does: a plugin that restarts needs no other care. Each
 * socket has threads of its own, so a plugin that hangs delays no other one. Confined to its loop.
 */
public final class GrpcPlugins implements PluginCalls, AutoCloseable {
    /**
     * The most calls to one plugin at the same time, each with two threads; further ones wait. Pods of a node start within
     * seconds, so a plugin that works is done with many more.
     */
    static final int MOST = 16;
    /** The most calls that wait for one plugin. A node has 110 pods with a few volumes each. */
    static final int MOST_WAITING = 1_000;
    /** Sockets whose threads are remembered; unused ones go first. A node has some ten plugins. */
    private static final int SOCKETS = 64;

    private final Loop loop;
    private final ScheduledExecutorService timer = TimerThread.named("plugins-timer");
    private final Map<Path, Lane> lanes = new HashMap<>();

    /** A client whose answers come on {@code loop}. It has no threads before the first call. */
    public GrpcPlugins(Loop loop) {
        this.loop = loop;
    }

    /** The calls to one socket. */
    private static final class Lane {
        private final ThreadPool pool = new ThreadPool("plugin", 2 * MOST);
        private final Queue<Runnable> waiting = new ArrayDeque<>();
        private int running;

        private boolean isIdle() {
            return running == 0 && waiting.isEmpty();
        }
    }

    @Override
    public <T> CompletableFuture<T> call(Path socket, PluginCall<T> call, Duration deadline) {
        Lane lane = lane(socket);
        if (lane.waiting.size() >= MOST_WAITING) {
            return CompletableFuture.failedFuture(new PluginCallException(
                    "ResourceExhausted", MOST_WAITING + " calls to the plugin at " + socket + " are waiting already"));
        }
        CompletableFuture<T> answer = new CompletableFuture<>();
        CompletableFuture<T> result = Deadlines.within(loop, deadline, call.method(), answer);
        CompletableFuture<T> told = result.exceptionallyCompose(error -> CompletableFuture.failedFuture(
                error instanceof DeadlineExceededException ? PluginCallException.late() : error));
        // A caller that gives up ends the call, too.
        told.whenComplete((value, error) -> answer.cancel(true));
        lane.waiting.add(() -> begin(socket, lane, call, deadline, answer));
        next(lane);
        return told;
    }

    private <T> void begin(Path socket, Lane lane, PluginCall<T> call, Duration deadline, CompletableFuture<T> answer) {
        if (answer.isDone()) {
            return;
        }
        lane.running++;
        try {
            OneCall.send(socket, PluginExchange.of(call), deadline, lane.pool, timer, loop, answer);
        } catch (RuntimeException e) {
            // Else it would keep its place.
            answer.completeExceptionally(e);
        }
        answer.whenComplete((value, error) -> loop.execute(() -> {
            lane.running--;
            next(lane);
        }));
    }

    private static void next(Lane lane) {
        while (lane.running < MOST && !lane.waiting.isEmpty()) {
            lane.waiting.remove().run();
        }
    }

    private Lane lane(Path socket) {
        if (lanes.size() >= SOCKETS && !lanes.containsKey(socket)) {
            lanes.values().stream().filter(Lane::isIdle).forEach(lane -> lane.pool.close());
            lanes.values().removeIf(Lane::isIdle);
        }
        return lanes.computeIfAbsent(socket, path -> new Lane());
    }

    /** Ends the threads; calls in progress are given up. To be called on the loop. Idempotent. */
    @Override
    public void close() {
        lanes.values().forEach(lane -> lane.pool.close());
        lanes.clear();
        timer.shutdownNow();
    }
}
