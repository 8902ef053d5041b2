package io.nodekeeper.apiserver.netty;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.nodekeeper.api.ApiException;
import io.nodekeeper.apiserver.request.ApiResponse;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Writes responses to a channel. Confined to the channel's event loop. */
final class ResponseWriter {
    /** The refusal of a request above the limits, in Kubernetes' words. */
    static final ApiResponse.Full TOO_MANY = ApiResponse.tooMany();

    /** The answer to a write whose own answer has no room. After {@link #TOO_MANY} clients would write again. */
    private static final ApiResponse.Full UNSENT = ApiResponse.refusal(new ApiException(
            504,
            "Timeout",
            "the request was carried out, but there is no memory for its answer while earlier ones wait to be read"));

    /** The refusal of a request while the server stops. */
    static final ApiResponse.Full CLOSING = retry(ApiResponse.refusal(
            new ApiException(503, "ServiceUnavailable", "the server is shutting down and takes no more requests")));

    /** Responses above this size are written only if the memory limit allows it. */
    private static final int LARGE = 64 << 10;

    /**
     * Responses of HTTP/2 above this size count towards the memory limit until they are written, which may have to wait for the
     * client's window. Smaller ones, such as renewed leases, cost no more than the stream itself. With HTTP/1.1 a socket's
     * buffer takes up to {@link #LARGE} at once.
     */
    private static final int SMALL = 1 << 10;

    /** How long such a response of a user without a share left may take: one that waits for no window needs some ms. */
    private static final int SPARE_MILLIS = 1_000;

    /** The share that all early answers have together. */
    private static final String TOGETHER = "";

    private final ServerContext serverContext;

    ResponseWriter(ServerContext serverContext) {
        this.serverContext = serverContext;
    }

    private static ApiResponse.Full retry(ApiResponse.Full refusal) {
        Map<String, String> headers = new HashMap<>(refusal.headers());
        headers.put("retry-after", "1");
        return new ApiResponse.Full(refusal.status(), headers, refusal.body());
    }

    /** What a request of {@code method} gets instead of an answer with this status for which its user has no share left. */
    static ApiResponse.Full withoutRoom(String method, int status) {
        boolean changes = !method.equals("GET") && !method.equals("HEAD");
        return changes && status < 300 ? UNSENT : TOO_MANY;
    }

    /** Whether {@link #write} would write a body of {@code length} bytes now. Can be called on any thread. */
    boolean hasRoom(String user, long length) {
        return length <= LARGE || serverContext.answers.has(user, length);
    }

    /** Writes a whole response to a request of {@code method}, from the share of {@code user}; omits the body for HEAD. */
    void write(ChannelHandlerContext context, ApiResponse.Full answer, String method, String user) {
        boolean headOnly = method.equals("HEAD");
        int length = headOnly ? 0 : answer.body().length;
        boolean large = length > LARGE;
        if (large && !serverContext.answers.take(user, length)) {
            // The client does not read earlier responses; a response that is not written costs no memory.
            write(context, withoutRoom(method, answer.status()), method, user);
            return;
        }
        FullHttpResponse out = response(answer, headOnly);
        if (answer.status() == 401 || answer.status() == 413) {
            out.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        ChannelFuture written = context.writeAndFlush(out);
        boolean counted = large;
        if (!large && length > SMALL && !written.isDone() && HttpStream.is(context)) {
            counted = serverContext.answers.take(user, length);
            if (!counted) {
                cutUnlessWritten(context, written);
            }
        }
        if (counted) {
            written.addListener(done -> serverContext.answers.giveBack(user, length));
        }
        WriteTimeout.watch(context, written);
    }

    private static void cutUnlessWritten(ChannelHandlerContext context, ChannelFuture written) {
        context.executor()
                .schedule(
                        () -> {
                            if (!written.isDone()) {
                                HttpStream.cut(context);
                            }
                        },
                        SPARE_MILLIS,
                        TimeUnit.MILLISECONDS);
    }

    /**
     * Writes a response before the end of the request's body. The client may read it only after it has sent that, so a
     * connection stays open. A stream of HTTP/2 ends without an error. All such responses together take at most one user's share.
     */
    void early(ChannelHandlerContext context, ApiResponse.Full answer, boolean headOnly, BooleanSupplier sends) {
        int length = headOnly ? 0 : answer.body().length;
        boolean counted = length > SMALL;
        if (counted && !serverContext.answers.take(TOGETHER, length)) {
            HttpStream.cut(context);
            return;
        }
        ChannelFuture written = context.writeAndFlush(response(answer, headOnly));
        if (counted) {
            written.addListener(done -> serverContext.answers.giveBack(TOGETHER, length));
        }
        WriteTimeout.watch(context, written);
        written.addListener(done -> {
            if (done.isSuccess() && sends.getAsBoolean()) {
                HttpStream.stopSending(context);
            }
        });
    }

    /** Writes a response and closes the connection. */
    void last(ChannelHandlerContext context, ApiResponse.Full answer) {
        FullHttpResponse out = response(answer, false);
        out.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        ChannelFuture written = context.writeAndFlush(out);
        WriteTimeout.watch(context, written);
        written.addListener(ChannelFutureListener.CLOSE);
    }

    /** Writes the headers of a streamed response. */
    void begin(ChannelHandlerContext context, ApiResponse.Streamed answer) {
        HttpResponse out = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(answer.status()));
        headers(out.headers(), answer);
        out.headers().set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
        WriteTimeout.watch(context, context.writeAndFlush(out));
    }

    /** Adds the headers of a response and the date. */
    void headers(HttpHeaders out, ApiResponse answer) {
        answer.headers().forEach((name, value) -> {
            if (value.indexOf('\n') < 0) {
                out.set(name, value);
            } else {
                out.set(name, value.lines().toList());
            }
        });
        out.set(HttpHeaderNames.DATE, serverContext.dates.now());
    }

    private FullHttpResponse response(ApiResponse.Full answer, boolean headOnly) {
        FullHttpResponse out = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1,
                HttpResponseStatus.valueOf(answer.status()),
                headOnly ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(answer.body()));
        headers(out.headers(), answer);
        out.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, answer.body().length);
        return out;
    }
}
