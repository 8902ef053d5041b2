package io.nodekeeper.simulator.network;

import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.TransportException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** One process's transport to the API server over the simulated network. Confined to virtual time. */
public final class SimTransport implements Transport, SimConnection {
    private final SimNetwork network;
    private final Cable cable;
    private final Optional<User> user;
    private final Set<SimExchange> exchanges = new LinkedHashSet<>();
    private boolean closed;

    /** A transport of the process behind {@code cable}, which authenticates as {@code user}. */
    public SimTransport(SimNetwork network, Cable cable, User user) {
        this.network = network;
        this.cable = cable;
        this.user = Optional.of(user);
        network.connected(this);
    }

    @Override
    public CompletableFuture<Reply> send(Call call) {
        Request request = new Request(call);
        request.start();
        return request.reply;
    }

    @Override
    public Stream open(Call call, StreamHandler handler) {
        SimStream stream = new SimStream(network, cable, handler, call, exchanges::remove);
        exchanges.add(stream);
        carry(call, stream, stream::answered);
        return stream;
    }

    @Override
    public void close() {
        closed = true;
        List.copyOf(exchanges).forEach(SimExchange::abandoned);
        exchanges.clear();
        network.disconnected(this);
    }

    @Override
    public boolean uses(Cable other) {
        return cable == other;
    }

    @Override
    public void breakAll(String why) {
        List.copyOf(exchanges).forEach(exchange -> exchange.broken(why));
        exchanges.clear();
    }

    /** Sends a call to the server; {@code answered} runs there. */
    private void carry(Call call, SimExchange exchange, java.util.function.Consumer<ApiResponse> answered) {
        if (closed || cable.state() == Cable.State.CUT) {
            exchanges.remove(exchange);
            exchange.broken("network is unreachable");
            return;
        }
        // Once sent, a request may arrive even if its sender has cancelled it or died since.
        network.send(cable, network.arrival(cable), () -> {
            Optional<ServerCore> server = network.server();
            if (server.isEmpty()) {
                exchanges.remove(exchange);
                exchange.broken("connection refused");
                return;
            }
            ApiRequest request = request(call);
            ServerCore up = server.get();
            up.loop().execute(() -> up.core().handle(request).thenAccept(answered));
        });
    }

    private final class Request implements SimExchange {
        private final Call call;
        private final CompletableFuture<Reply> reply = new CompletableFuture<>();

        private Request(Call call) {
            this.call = call;
        }

        private void start() {
            exchanges.add(this);
            reply.whenComplete((value, error) -> exchanges.remove(this));
            carry(call, this, this::answered);
        }

        private void answered(ApiResponse response) {
            if (response instanceof ApiResponse.Chunked large) {
                answered(large.whole());
                return;
            }
            if (!(response instanceof ApiResponse.Full full)) {
                throw new IllegalStateException(call + " was answered with a stream; expected an answer as a whole");
            }
            network.send(cable, network.arrival(cable), () -> {
                if (exchanges.contains(this)) {
                    reply.complete(new Reply(full.status(), full.body()));
                }
            });
        }

        @Override
        public void broken(String why) {
            network.tell(cable, () -> reply.completeExceptionally(new TransportException(call + ": " + why, null)));
        }

        @Override
        public void abandoned() {}
    }

    private ApiRequest request(Call call) {
        String target = call.target();
        int mark = target.indexOf('?');
        Map<String, List<String>> query = new LinkedHashMap<>();
        if (mark >= 0) {
            for (String pair : target.substring(mark + 1).split("&")) {
                int equals = pair.indexOf('=');
                String name = decoded(equals < 0 ? pair : pair.substring(0, equals));
                String value = equals < 0 ? "" : decoded(pair.substring(equals + 1));
                query.computeIfAbsent(name, first -> new ArrayList<>(1)).add(value);
            }
        }
        String path = mark < 0 ? target : target.substring(0, mark);
        Map<String, String> headers = call.contentType().isEmpty()
                ? Map.of("accept", "application/json")
                : Map.of("accept", "application/json", "content-type", call.contentType());
        return new ApiRequest(call.method(), path, query, headers, call.body(), user);
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
