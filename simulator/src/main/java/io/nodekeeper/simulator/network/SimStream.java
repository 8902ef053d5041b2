package io.nodekeeper.simulator.network;

import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.StreamSink;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.TransportException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Both ends of a streamed response; what the server writes arrives in order. Confined to virtual time. */
final class SimStream implements Transport.Stream, SimExchange, StreamSink {
    private final SimNetwork network;
    private final Cable cable;
    private final Transport.StreamHandler handler;
    private final String what;
    private final String resource;
    private final Consumer<SimExchange> over;
    private final List<Runnable> onClose = new ArrayList<>();
    private Optional<ServerCore> server = Optional.empty();
    private long lastArrival;
    /** The client's end is closed: it receives nothing more. */
    private boolean deaf;
    /** The server's end is closed: it sends nothing more. */
    private boolean closed;

    /** A stream that has not begun; {@code over} receives it when the client's end is closed. */
    SimStream(SimNetwork network, Cable cable, Transport.StreamHandler handler, Call call, Consumer<SimExchange> over) {
        this.network = network;
        this.cable = cable;
        this.handler = handler;
        this.what = call.toString();
        this.resource = resource(call.target());
        this.over = over;
    }

    /** Handles the server's response, on the server's loop. */
    void answered(ApiResponse response) {
        server = network.server();
        switch (response) {
            case ApiResponse.Full full -> {
                Reply refusal = new Reply(full.status(), full.body());
                closed = true;
                arrive(() -> finish(Optional.of(refusal), Optional.empty()));
            }
            case ApiResponse.Chunked large -> answered(large.whole());
            case ApiResponse.Relayed relayed ->
                throw new IllegalStateException(what + " needs the API of a node, which the simulator does not have");
            case ApiResponse.Streamed streamed -> {
                arrive(handler::onOpen);
                streamed.start().accept(this);
                if (deaf) {
                    // The client closed the stream while its request was on the way.
                    closed();
                }
            }
        }
    }

    @Override
    public void writeFirst(byte[] bytes) {
        write(bytes);
    }

    @Override
    public void write(byte[] bytes) {
        if (closed) {
            return;
        }
        int from = 0;
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] == '\n') {
                byte[] line = Arrays.copyOfRange(bytes, from, i);
                hear(() -> handler.onLine(line));
                from = i + 1;
            }
        }
        if (from != bytes.length) {
            throw new IllegalStateException("the server wrote half a line to " + what);
        }
    }

    @Override
    public void end() {
        if (!closed) {
            arrive(() -> finish(Optional.empty(), Optional.empty()));
            closed();
        }
    }

    @Override
    public void onClose(Runnable action) {
        if (closed) {
            action.run();
        } else {
            onClose.add(action);
        }
    }

    @Override
    public void cancel() {
        if (!deaf) {
            deaf = true;
            over.accept(this);
            hangUp();
        }
    }

    @Override
    public void abandoned() {
        deaf = true;
        hangUp();
    }

    @Override
    public void broken(String why) {
        server.ifPresent(up -> up.loop().execute(this::closed));
        network.tell(
                cable, () -> finish(Optional.empty(), Optional.of(new TransportException(what + ": " + why, null))));
    }

    /** Closes the stream at the server, because the client has closed its end. */
    private void hangUp() {
        network.send(
                cable,
                network.arrival(cable),
                () -> server.ifPresent(up -> up.loop().execute(this::closed)));
    }

    private void closed() {
        if (!closed) {
            closed = true;
            onClose.forEach(Runnable::run);
            onClose.clear();
        }
    }

    private void finish(Optional<Reply> refusal, Optional<TransportException> why) {
        over.accept(this);
        if (!deaf) {
            deaf = true;
            handler.onEnd(refusal, why);
        }
    }

    private void arrive(Runnable message) {
        lastArrival = Math.max(network.arrival(cable), lastArrival);
        network.send(cable, lastArrival, () -> deliver(message));
    }

    private void hear(Runnable message) {
        long arrival = network.arrival(cable) + cable.lag(resource).toNanos();
        lastArrival = Math.max(arrival, lastArrival);
        network.sendWatched(cable, resource, lastArrival, () -> deliver(message));
    }

    private void deliver(Runnable message) {
        if (!deaf) {
            message.run();
        }
    }

    /** The plural at the end of a collection's path. */
    private static String resource(String target) {
        int mark = target.indexOf('?');
        String path = mark < 0 ? target : target.substring(0, mark);
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
