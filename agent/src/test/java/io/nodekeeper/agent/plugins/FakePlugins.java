package io.nodekeeper.agent.plugins;

import io.nodekeeper.cri.plugin.PluginCall;
import io.nodekeeper.cri.plugin.PluginCallException;
import io.nodekeeper.cri.plugin.PluginCalls;
import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;

/** Plugins with answers from the test; without one, nothing listens. */
public final class FakePlugins implements PluginCalls {
    /** Each call as its socket's name and itself. */
    public final List<String> calls = new ArrayList<>();

    private final Loop loop;
    private BiFunction<Path, PluginCall<?>, Optional<Object>> answers =
            (socket, call) -> Optional.of(new PluginCallException("Unavailable", socket + ": Connection refused"));

    public FakePlugins(Loop loop) {
        this.loop = loop;
    }

    /** The answers: a value, or an error; none for a call that hangs. */
    public void answer(BiFunction<Path, PluginCall<?>, Optional<Object>> plugins) {
        answers = plugins;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> CompletableFuture<T> call(Path socket, PluginCall<T> call, Duration deadline) {
        calls.add(socket.getFileName() + " " + call);
        CompletableFuture<T> answer = new CompletableFuture<>();
        Optional<Object> given = answers.apply(socket, call);
        given.ifPresent(value -> loop.execute(() -> {
            if (value instanceof RuntimeException error) {
                answer.completeExceptionally(error);
            } else {
                answer.complete((T) value);
            }
        }));
        return Deadlines.within(loop, deadline, call.method(), answer)
                .exceptionallyCompose(error -> CompletableFuture.failedFuture(
                        error instanceof DeadlineExceededException ? PluginCallException.late() : error));
    }
}
