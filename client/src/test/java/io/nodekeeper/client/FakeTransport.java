package io.nodekeeper.client;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A fake server: records every call and answers as the test chooses; an empty answer is a call that hangs.
 * Not thread-safe: for virtual time.
 */
public final class FakeTransport implements Transport {
    private final List<Call> calls = new ArrayList<>();
    private final List<Watch> watches = new ArrayList<>();
    /** The calls that hang, in their order. */
    private final Map<CompletableFuture<Reply>, Call> hanging = new LinkedHashMap<>();

    private Consumer<Watch> opened = watch -> {};
    private Function<Call, Optional<Reply>> server = call -> Optional.of(reply(404, JsonObject.EMPTY));

    /**
     * From now on calls are answered by {@code server}; empty means never. A TransportException it throws fails the
     * call.
     */
    public void answer(Function<Call, Optional<Reply>> server) {
        this.server = server;
    }

    /** From now on {@code opened} hears of each watch once it is open. */
    public void opened(Consumer<Watch> opened) {
        this.opened = opened;
    }

    /** The calls so far, as {@code METHOD target}, watches aside. */
    public List<String> log() {
        return calls.stream().map(Call::toString).toList();
    }

    /** The calls so far, watches aside. */
    public List<Call> calls() {
        return calls;
    }

    /** Forgets the calls so far. */
    public void clear() {
        calls.clear();
    }

    /** The server answers the calls that hang, as it answers now. */
    public void release() {
        Map<CompletableFuture<Reply>, Call> released = new LinkedHashMap<>(hanging);
        hanging.clear();
        released.forEach((answer, call) -> server.apply(call).ifPresent(answer::complete));
    }

    /** The watches opened so far, ended ones included. */
    public List<Watch> watches() {
        return watches;
    }

    /** An answer with a JSON body. */
    public static Reply reply(int status, JsonObject body) {
        return new Reply(status, Json.writeBytes(body));
    }

    /** The answer with which a server refuses. */
    public static Reply refusal(ApiException refused) {
        return reply(refused.code(), refused.toStatus());
    }

    @Override
    public CompletableFuture<Reply> send(Call call) {
        calls.add(call);
        try {
            return server.apply(call).map(CompletableFuture::completedFuture).orElseGet(() -> hang(call));
        } catch (TransportException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private CompletableFuture<Reply> hang(Call call) {
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        hanging.put(answer, call);
        answer.whenComplete((reply, error) -> hanging.remove(answer));
        return answer;
    }

    @Override
    public Stream open(Call call, StreamHandler handler) {
        Watch watch = new Watch(call, handler);
        watches.add(watch);
        handler.onOpen();
        opened.accept(watch);
        return () -> watch.cancelled = true;
    }

    @Override
    public void close() {}

    /** A watch that the test feeds. */
    public static final class Watch {
        private final Call call;
        private final StreamHandler handler;
        private boolean cancelled;

        private Watch(Call call, StreamHandler handler) {
            this.call = call;
            this.handler = handler;
        }

        /** The request that opened it. */
        public Call call() {
            return call;
        }

        /** Whether the client ended it. */
        public boolean cancelled() {
            return cancelled;
        }

        /** Sends an event. */
        public void event(String type, JsonObject object) {
            JsonObject event =
                    JsonObject.builder().put("type", type).put("object", object).build();
            handler.onLine(Json.write(event).getBytes(StandardCharsets.UTF_8));
        }

        /** Sends a line as it is. */
        public void line(String line) {
            handler.onLine(line.getBytes(StandardCharsets.UTF_8));
        }

        /** Sends lines that arrive together. */
        void lines(Lines lines) {
            handler.onLines(lines);
        }

        /** The server refuses the watch. */
        public void refuse(ApiException refused) {
            handler.onEnd(Optional.of(refusal(refused)), Optional.empty());
        }

        /** The server ends the watch as agreed. */
        public void end() {
            handler.onEnd(Optional.empty(), Optional.empty());
        }

        /** The connection breaks. */
        public void breakOff() {
            handler.onEnd(Optional.empty(), Optional.of(new TransportException("connection reset", null)));
        }
    }
}
