package io.nodekeeper.cli.guard;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cli.http.HttpConnection;
import io.nodekeeper.controller.guard.Webhook;
import io.nodekeeper.time.Clock;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles one connection: one review at a time. A client that sends its next review before it has the answer is
 * disconnected. An answer other than 200 makes the API server let the write pass. Confined to the event loop.
 */
final class ReviewHandler extends HttpConnection<HttpObject> {
    private static final Logger log = LoggerFactory.getLogger(ReviewHandler.class);
    /** The most bytes of a review: it has two versions of one object, and an object has at most 1.5 MiB. */
    static final int BODY_BYTES = 4 << 20;
    /** The most bytes of all reviews that are being received or answered. */
    static final int ALL_BYTES = 64 << 20;
    /** Seconds for a review to arrive. The API server gives up after one. */
    private static final int RECEIVE_SECONDS = 5;
    /** Seconds that a connection may be idle; longer than the 90 s for which Go's client keeps one. */
    private static final int IDLE_SECONDS = 120;

    /** Counts the bytes of the bodies of all connections. Confined to the event loop. */
    static final class Bodies {
        private long bytes;
    }

    private final Bodies bodies;
    private final ReviewClients clients;
    private final Clock clock;
    private final Executor workers;
    private final Function<byte[], CompletableFuture<byte[]>> reviews;
    /** At most {@link #BODY_BYTES}. */
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();

    /** Whether nothing more of the client is read. */
    private boolean refused;

    private boolean keepAlive;
    private int held;

    ReviewHandler(
            Bodies bodies,
            ReviewClients clients,
            Clock clock,
            Executor workers,
            Function<byte[], CompletableFuture<byte[]>> reviews) {
        this.bodies = bodies;
        this.clients = clients;
        this.clock = clock;
        this.workers = workers;
        this.reviews = reviews;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        expectClient(context, RECEIVE_SECONDS);
        context.fireChannelActive();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        release();
        super.channelInactive(context);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject part) throws IOException {
        if (refused) {
            return;
        }
        if (isAnswering()) {
            // The body and its bytes belong to the review that is being answered.
            refused = true;
            context.close();
            return;
        }
        if (!part.decoderResult().isSuccess()) {
            refuse(context, HttpResponseStatus.BAD_REQUEST, "malformed request");
            return;
        }
        if (part instanceof HttpRequest request && !admits(context, request)) {
            return;
        }
        if (part instanceof HttpContent content) {
            int more = content.content().readableBytes();
            if (body.size() + more > BODY_BYTES || bodies.bytes + more > ALL_BYTES) {
                refuse(
                        context,
                        HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE,
                        "the review is too large; expected at most " + BODY_BYTES + " bytes");
                return;
            }
            bodies.bytes += more;
            held += more;
            content.content().readBytes(body, more);
            if (part instanceof LastHttpContent && begin(context)) {
                review(context);
            }
        }
    }

    /** Whether the request may go on. */
    private boolean admits(ChannelHandlerContext context, HttpRequest request) {
        expectClient(context, RECEIVE_SECONDS);
        keepAlive = HttpUtil.isKeepAlive(request);
        Optional<String> fault = clients.fault(context.channel(), clock.wallTime());
        if (fault.isPresent()) {
            refuse(context, HttpResponseStatus.FORBIDDEN, fault.get());
            return false;
        }
        String uri = request.uri();
        int question = uri.indexOf('?');
        if (!(question < 0 ? uri : uri.substring(0, question)).equals(Webhook.PATH)) {
            refuse(context, HttpResponseStatus.NOT_FOUND, "expected POST " + Webhook.PATH);
            return false;
        }
        if (!request.method().equals(HttpMethod.POST)) {
            refuse(context, HttpResponseStatus.METHOD_NOT_ALLOWED, request.method() + " is not allowed; expected POST");
            return false;
        }
        return true;
    }

    private void review(ChannelHandlerContext context) {
        stopTimer();
        byte[] received = body.toByteArray();
        body.reset();
        try {
            workers.execute(() -> reviews.apply(received)
                    .whenComplete((answer, error) -> context.executor().execute(() -> {
                        if (error == null) {
                            respond(context, HttpResponseStatus.OK, "application/json", answer, keepAlive);
                        } else {
                            refuse(context, HttpResponseStatus.BAD_REQUEST, Failures.text(error));
                        }
                    })));
        } catch (RejectedExecutionException e) {
            refuse(context, HttpResponseStatus.SERVICE_UNAVAILABLE, "too many reviews");
        }
    }

    private void refuse(ChannelHandlerContext context, HttpResponseStatus status, String text) {
        refused = true;
        log.debug("a review from {} is answered with {}: {}", context.channel().remoteAddress(), status, text);
        respond(context, status, "text/plain; charset=utf-8", (text + "\n").getBytes(StandardCharsets.UTF_8), false);
    }

    private void respond(
            ChannelHandlerContext context, HttpResponseStatus status, String type, byte[] content, boolean keep) {
        release();
        send(context, response(status, type, content, keep), RECEIVE_SECONDS, IDLE_SECONDS, () -> {});
    }

    /** The body is no longer needed. */
    private void release() {
        bodies.bytes -= held;
        held = 0;
        body.reset();
    }
}
