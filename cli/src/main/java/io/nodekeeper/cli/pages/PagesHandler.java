package io.nodekeeper.cli.pages;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.nodekeeper.cli.http.HttpConnection;
import io.nodekeeper.client.pages.Feed;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.client.pages.Pages;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles one connection: one request at a time, each with a time limit, or one stream of events. A request during
 * another one or a stream closes the connection. Confined to the event loop.
 */
final class PagesHandler extends HttpConnection<FullHttpRequest> {
    private static final Logger log = LoggerFactory.getLogger(PagesHandler.class);

    /** Seconds for a client to send its next request, and to take the answer. Probes and scrapes take less than one. */
    private static final int CLIENT_SECONDS = 10;

    private final Pages pages;
    private final HostCheck hosts;
    private final Optional<Exposure> exposure;
    private final Consumer<Channel> answered;

    /** {@code answered} is called with the connection when its client has received an answer. */
    PagesHandler(Pages pages, HostCheck hosts, Optional<Exposure> exposure, Consumer<Channel> answered) {
        this.pages = pages;
        this.hosts = hosts;
        this.exposure = exposure;
        this.answered = answered;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        expectClient(context, CLIENT_SECONDS);
        context.fireChannelActive();
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
        if (!begin(context)) {
            return;
        }
        stopTimer();
        boolean keep = HttpUtil.isKeepAlive(request) && request.decoderResult().isSuccess();
        Optional<Page> refusal = refusal(request);
        if (refusal.isPresent()) {
            answer(context, refusal.get(), keep);
            return;
        }
        String uri = request.uri();
        int question = uri.indexOf('?');
        String path = question < 0 ? uri : uri.substring(0, question);
        String query = question < 0 ? "" : uri.substring(question + 1);
        Optional<Feed> feed = pages.feed(path);
        permission(context.channel(), request, path)
                .thenCompose(refused -> refused.isEmpty() && feed.isPresent()
                        ? stream(context, feed.get())
                        : refused.map(CompletableFuture::completedFuture)
                                .orElseGet(() -> pages.get(path, query))
                                .thenApply(Optional::of))
                .whenComplete((page, error) -> context.executor().execute(() -> {
                    if (error != null) {
                        log.error("the page {} failed", path, error);
                        answer(context, Page.text(500, "the page failed; the log says why"), keep);
                    } else if (page.isPresent()) {
                        answer(context, page.get(), keep);
                    } else {
                        // Reading notices that the client closes the connection.
                        context.channel().config().setAutoRead(true);
                    }
                }));
    }

    /** The page that refuses the request, unless its sender may read the page. */
    private CompletableFuture<Optional<Page>> permission(Channel channel, FullHttpRequest request, String path) {
        return exposure.map(secure -> secure.check(channel, request, path))
                .orElseGet(() -> CompletableFuture.completedFuture(Optional.empty()));
    }

    /** Starts a stream, which ends only with the connection; or the page that says why not. */
    private static CompletableFuture<Optional<Page>> stream(ChannelHandlerContext context, Feed feed) {
        return feed.open(new StreamReader(context))
                .thenApply(opened -> opened
                        ? Optional.empty()
                        : Optional.of(Page.text(503, "there are too many streams; close some of the pages")));
    }

    private Optional<Page> refusal(FullHttpRequest request) {
        if (!request.decoderResult().isSuccess()) {
            return Optional.of(Page.text(400, "malformed request"));
        }
        Optional<String> fault = hosts.fault(request.headers().get(HttpHeaderNames.HOST, ""));
        if (fault.isPresent()) {
            return Optional.of(Page.text(403, fault.get()));
        }
        return request.method().equals(HttpMethod.GET)
                ? Optional.empty()
                : Optional.of(Page.text(405, request.method() + " is not allowed; expected GET"));
    }

    private void answer(ChannelHandlerContext context, Page page, boolean keep) {
        FullHttpResponse response = response(HttpResponseStatus.valueOf(page.status()), page.type(), page.body(), keep);
        BrowserRules.add(response.headers());
        send(context, response, CLIENT_SECONDS, CLIENT_SECONDS, () -> answered.accept(context.channel()));
    }
}
