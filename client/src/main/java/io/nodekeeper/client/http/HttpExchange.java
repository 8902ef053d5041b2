package io.nodekeeper.client.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** One request and its response. Thread-safe; its state is confined to the event loop. */
public final class HttpExchange {
    private final Executor loop;
    private final HttpMethod method;
    private final String target;
    private final HttpHeaders headers;
    private final byte[] body;
    private final ResponseReceiver receiver;
    /** Whether the receiver hears no more. */
    private boolean isOver;

    private @Nullable Channel channel;

    /** @param loop runs tasks on the event loop, or drops them if it has ended */
    HttpExchange(
            Executor loop,
            HttpMethod method,
            String target,
            HttpHeaders headers,
            byte[] body,
            ResponseReceiver receiver) {
        this.loop = loop;
        this.method = method;
        this.target = target;
        this.headers = headers;
        this.body = body;
        this.receiver = receiver;
    }

    /** Ends the exchange: closes its connection, and the receiver hears no more. Idempotent. */
    public void cancel() {
        loop.execute(() -> {
            isOver = true;
            if (channel != null) {
                channel.close();
            }
        });
    }

    boolean isOver() {
        return isOver;
    }

    ResponseReceiver receiver() {
        return receiver;
    }

    /** The connection that is being made or used, which {@link #cancel} closes. */
    void on(Channel connection) {
        channel = connection;
    }

    /** The request, for one attempt. */
    FullHttpRequest request() {
        return new DefaultFullHttpRequest(
                HttpVersion.HTTP_1_1, method, target, Unpooled.wrappedBuffer(body), headers, EmptyHttpHeaders.INSTANCE);
    }

    /** Whether it may be sent twice. */
    boolean isSafe() {
        return method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
    }

    /** The body is complete. If the receiver throws, the exchange is not over, and fails. */
    void end() {
        if (!isOver) {
            receiver.end();
            finish();
        }
    }

    /** Fails, and closes the connection. */
    void fail(Throwable why) {
        if (isOver) {
            return;
        }
        Channel used = channel;
        // First, because the end of the connection would be another failure.
        finish();
        if (used != null) {
            used.close();
        }
        receiver.failed(why);
    }

    private void finish() {
        isOver = true;
        channel = null;
    }
}
