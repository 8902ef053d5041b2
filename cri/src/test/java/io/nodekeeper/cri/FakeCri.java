package io.nodekeeper.cri;

import io.grpc.HandlerRegistry;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A runtime on a real socket with answers from the test; methods without an answer are unimplemented. */
final class FakeCri implements AutoCloseable {
    private final Path path;
    private final Map<String, ServerMethodDefinition<?, ?>> methods = new ConcurrentHashMap<>();
    private final List<Object> requests = new CopyOnWriteArrayList<>();
    private final AtomicInteger cancelled = new AtomicInteger();
    private UnixServer server;

    FakeCri(Path path) throws IOException {
        this.path = path;
        server = new UnixServer(path, new Methods());
    }

    /** RuntimeResponses calls of {@code method}. */
    <Q, A> FakeCri answer(MethodDescriptor<Q, A> method, Function<Q, A> answer) {
        return on(method, (request, reply) -> {
            reply.onNext(answer.apply(request));
            reply.onCompleted();
        });
    }

    /** Passes calls of {@code method} to {@code handler}, streams included. */
    <Q, A> FakeCri on(MethodDescriptor<Q, A> method, BiConsumer<Q, StreamObserver<A>> handler) {
        methods.put(
                method.getFullMethodName(),
                ServerMethodDefinition.create(method, ServerCalls.asyncServerStreamingCall((request, reply) -> {
                    ((ServerCallStreamObserver<A>) reply).setOnCancelHandler(cancelled::incrementAndGet);
                    requests.add(request);
                    handler.accept(request, reply);
                })));
        return this;
    }

    /** Calls of {@code method} are never answered. */
    <Q, A> FakeCri hang(MethodDescriptor<Q, A> method) {
        return on(method, (request, reply) -> {});
    }

    /** All requests so far. */
    List<Object> requests() {
        return requests;
    }

    /** The number of cancelled calls. */
    int cancelled() {
        return cancelled.get();
    }

    void kill() throws IOException, InterruptedException {
        server.kill();
    }

    void restart() throws IOException {
        java.nio.file.Files.deleteIfExists(path);
        server = new UnixServer(path, new Methods());
    }

    @Override
    public void close() throws IOException, InterruptedException {
        server.close();
    }

    private final class Methods extends HandlerRegistry {
        @Override
        public @Nullable ServerMethodDefinition<?, ?> lookupMethod(String name, @Nullable String authority) {
            return methods.get(name);
        }
    }
}
