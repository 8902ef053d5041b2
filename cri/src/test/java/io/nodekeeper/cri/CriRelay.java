package io.nodekeeper.cri;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.nodekeeper.cri.v1.RunPodSandboxRequest;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.ThreadLoop;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * A relay between a client and a real runtime that injects faults. Calls and streams of any method pass unchanged, except
 * where a fault is set. A place is a method ({@code ContainerStatus}), a method and what it is about
 * ({@code ContainerStatus:ID}; a sandbox or container id, for {@code RunPodSandbox} the pod's UID), {@code *:ID} or
 * {@code *}; the first of {@code METHOD:ID}, {@code *:ID}, {@code METHOD}, {@code *} that has a fault decides. Thread-safe.
 */
public final class CriRelay implements AutoCloseable {
    private final Map<String, Fault> faults = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> seen = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> cancelled = new ConcurrentHashMap<>();
    private final Queue<Call> calls = new ConcurrentLinkedQueue<>();
    private final AtomicInteger recorded = new AtomicInteger();
    private volatile boolean recording;
    private final Loop loop = new ThreadLoop("relay");
    private final Connections runtime;
    private final UnixServer server;

    /** The most calls that are recorded; those of some hundred pods. */
    private static final int MOST_CALLS = 50_000;

    /**
     * A call that the runtime answered.
     *
     * @param answer the last message of the answer; empty if there was none
     * @param began when the relay received it, monotonic ns
     * @param ended when the runtime's answer was complete, monotonic ns
     */
    public record Call(String method, byte[] request, byte[] answer, Status.Code code, long began, long ended) {}

    /** What happens to a call instead of passing. */
    public sealed interface Fault {
        /** The call is never answered, and does not reach the runtime. */
        record Hang() implements Fault {}

        /** The call passes after a delay. */
        record Delay(Duration by) implements Fault {}

        /** The call fails. */
        record Fail(Status status) implements Fault {}

        /** These bytes are the answer; the runtime does not see the call. */
        record Garbage(byte[] bytes) implements Fault {}

        /** The runtime's answer without its second half. */
        record Truncate() implements Fault {}

        /** All connections to the client break. */
        record Disconnect() implements Fault {}
    }

    /** Listens at {@code listen}, where no file may exist, and relays to the runtime at {@code target}. */
    public CriRelay(Path listen, Path target) throws IOException {
        runtime = new Connections(target, loop.clock());
        server = new UnixServer(listen, new AnyMethod());
    }

    /** Sets a fault. */
    public void fault(String place, Fault fault) {
        faults.put(place, fault);
    }

    /** Removes a fault; calls that already hang continue to hang. */
    public void heal(String place) {
        faults.remove(place);
    }

    /** From now on all calls are recorded, up to a bound. */
    public void record() {
        calls.clear();
        recorded.set(0);
        recording = true;
    }

    /** The recorded calls, in the order of their answers. */
    public List<Call> calls() {
        return List.copyOf(calls);
    }

    /** The number of calls of {@code method}. */
    public long seen(String method) {
        return seen.getOrDefault(method, new LongAdder()).sum();
    }

    /** How many of them the client has cancelled. */
    public long cancelled(String method) {
        return cancelled.getOrDefault(method, new LongAdder()).sum();
    }

    @Override
    public void close() throws IOException, InterruptedException {
        server.close();
        runtime.close();
        loop.close();
    }

    private Optional<Fault> faultOf(String method, byte[] request) {
        String id = id(method, request);
        for (String place : new String[] {method + ":" + id, "*:" + id, method, "*"}) {
            if (faults.containsKey(place)) {
                return Optional.ofNullable(faults.get(place));
            }
        }
        return Optional.empty();
    }

    /** Field 1 of a request about a sandbox or container is its id. */
    private static String id(String method, byte[] request) {
        try {
            if (method.equals("RunPodSandbox")) {
                return RunPodSandboxRequest.parseFrom(request)
                        .getConfig()
                        .getMetadata()
                        .getUid();
            }
            if (method.startsWith("List") || method.equals("Version") || method.equals("UpdateRuntimeConfig")) {
                return "";
            }
            CodedInputStream in = CodedInputStream.newInstance(request);
            int tag = in.readTag();
            return tag == (1 << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED) ? in.readString() : "";
        } catch (IOException e) {
            throw new UncheckedIOException("a request of " + method + " cannot be read", e);
        }
    }

    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private final class AnyMethod extends HandlerRegistry {
        @Override
        public ServerMethodDefinition<?, ?> lookupMethod(String name, @Nullable String authority) {
            MethodDescriptor<byte[], byte[]> method = MethodDescriptor.<byte[], byte[]>newBuilder()
                    .setType(MethodDescriptor.MethodType.SERVER_STREAMING)
                    .setFullMethodName(name)
                    .setRequestMarshaller(new Bytes())
                    .setResponseMarshaller(new Bytes())
                    .build();
            return ServerMethodDefinition.create(method, (call, headers) -> {
                call.request(2);
                return new Passage(method, call);
            });
        }
    }

    /** One call in progress. */
    private final class Passage extends ServerCall.Listener<byte[]> {
        private final MethodDescriptor<byte[], byte[]> method;
        private final String name;
        private final ServerCall<byte[], byte[]> client;
        private volatile @Nullable ClientCall<byte[], byte[]> onward;

        Passage(MethodDescriptor<byte[], byte[]> method, ServerCall<byte[], byte[]> client) {
            this.method = method;
            this.name = String.valueOf(method.getBareMethodName());
            this.client = client;
        }

        @Override
        public void onMessage(byte[] request) {
            seen.computeIfAbsent(name, key -> new LongAdder()).increment();
            Fault fault = faultOf(name, request).orElse(new Fault.Delay(Duration.ZERO));
            switch (fault) {
                case Fault.Hang hang -> {}
                case Fault.Delay(Duration by) -> loop.schedule(by, () -> pass(request, false));
                case Fault.Fail(Status status) -> client.close(status, new Metadata());
                case Fault.Garbage(byte[] bytes) -> {
                    client.sendHeaders(new Metadata());
                    client.sendMessage(bytes);
                    client.close(Status.OK, new Metadata());
                }
                case Fault.Truncate truncate -> pass(request, true);
                case Fault.Disconnect disconnect -> disconnect();
            }
        }

        private void disconnect() {
            try {
                server.disconnect();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void pass(byte[] request, boolean truncate) {
            if (client.isCancelled()) {
                return;
            }
            ClientCall<byte[], byte[]> call = runtime.current().channel().newCall(method, CallOptions.DEFAULT);
            onward = call;
            call.start(
                    new ClientCall.Listener<byte[]>() {
                        private final long began = System.nanoTime();
                        private boolean begun;
                        private byte[] last = new byte[0];

                        @Override
                        public void onMessage(byte[] answer) {
                            if (!begun) {
                                client.sendHeaders(new Metadata());
                                begun = true;
                            }
                            last = answer;
                            client.sendMessage(truncate ? java.util.Arrays.copyOf(answer, answer.length / 2) : answer);
                            call.request(1);
                        }

                        @Override
                        public void onClose(Status status, Metadata trailers) {
                            if (recording && recorded.getAndIncrement() < MOST_CALLS) {
                                calls.add(new Call(name, request, last, status.getCode(), began, System.nanoTime()));
                            }
                            if (!client.isCancelled()) {
                                client.close(status, trailers);
                            }
                        }
                    },
                    new Metadata());
            call.request(2);
            call.sendMessage(request);
            call.halfClose();
        }

        @Override
        public void onCancel() {
            cancelled.computeIfAbsent(name, key -> new LongAdder()).increment();
            ClientCall<byte[], byte[]> call = onward;
            if (call != null) {
                call.cancel("the client gave up", null);
            }
        }
    }
}
