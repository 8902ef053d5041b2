package io.nodekeeper.apiserver.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ClientCertificate;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request whose parts arrive. What is kept of a body that does not come at once counts towards its sender's share of
 * {@link ServerContext#bodies}, and only an authorized sender has one; the rest is dropped. Confined to its event loop.
 */
final class IncomingRequest {
    /** The largest body (Kubernetes' limit). */
    static final int BODY_BYTES = 3_145_728;

    /**
     * The most bytes of headers that are kept for a body without knowing their sender: those of kubelets have half as much. To
     * check the sender twice would cost each of their renewals as much as the rest of its request.
     */
    private static final long SMALL_HEAD = 1 << 10;

    /** The most parameters of a URL, above the characters that a URL may have, so that none is dropped. */
    private static final int PARAMETERS = (64 << 10) + 1;

    /** What a header takes besides its text (RFC 9113, section 10.5.1). */
    private static final int HEADER = 32;

    private final ServerContext serverContext;
    private final ChannelHandlerContext context;
    private final HttpRequest head;
    private final Optional<ClientCertificate> certificate;
    private final Consumer<String> authorized;
    /** A body that arrived at once. */
    private byte[] whole = {};
    /** The parts of a body that arrived in several parts. */
    private @Nullable ByteBuf chunks;

    private long received;
    /** Bytes of {@link ServerContext#bodies} that its headers hold. */
    private long heldByHead;
    /** Those that its body holds. */
    private long heldByBody;
    /** The user who sends it, once {@link #checked}. */
    private String sender = "";
    /** Whether it is known if its sender is authorized. */
    private boolean checked;

    private boolean turnedAway;
    private boolean crowded;

    /** A request of which only {@code head} has arrived. {@code authorized} gets the name of a sender who is. */
    IncomingRequest(
            ServerContext serverContext,
            ChannelHandlerContext context,
            HttpRequest head,
            Optional<ClientCertificate> certificate,
            Consumer<String> authorized) {
        this.serverContext = serverContext;
        this.context = context;
        this.head = head;
        this.certificate = certificate;
        this.authorized = authorized;
    }

    HttpRequest head() {
        return head;
    }

    /** Whether its body is dropped because its sender is not authorized. */
    boolean isTurnedAway() {
        return turnedAway;
    }

    /** Whether its body is dropped because its sender has no share left. */
    boolean isCrowded() {
        return crowded;
    }

    /** Whether its body is above the limit. */
    boolean isTooLarge() {
        return received > BODY_BYTES;
    }

    /**
     * Keeps the headers for a body that comes later; if they are large, only for an authorized sender with a share left. Returns
     * whether it does.
     */
    boolean expectBody() {
        long bytes = bytes(head);
        if (bytes > SMALL_HEAD) {
            crowded = isAuthorized() && !serverContext.bodies.take(sender, bytes);
            if (turnedAway || crowded) {
                return false;
            }
            heldByHead = bytes;
        }
        return true;
    }

    /** Adds a part of the body. Its rest above a limit is dropped, because a client that is still sending may not read a response. */
    void add(ByteBuf part, boolean last) {
        int size = part.readableBytes();
        received += size;
        if (size == 0 || isTooLarge() || crowded || turnedAway) {
            return;
        }
        if (last && chunks == null) {
            whole = ByteBufUtil.getBytes(part);
            return;
        }
        if (!isAuthorized()) {
            return;
        }
        if (!serverContext.bodies.take(sender, size)) {
            crowded = true;
            dropBody();
            return;
        }
        heldByBody += size;
        if (chunks == null) {
            chunks = context.alloc().buffer(size);
        }
        chunks.writeBytes(part);
    }

    /**
     * Whether its sender is authorized. Authenticates and authorizes once, before the server keeps any part of a body that arrives
     * in several parts or later.
     */
    boolean isAuthorized() {
        if (!checked) {
            checked = true;
            Optional<String> known;
            try {
                known = serverContext.server.permitted(request(new byte[0]));
            } catch (IllegalArgumentException e) {
                known = Optional.empty();
            }
            sender = known.orElse("");
            turnedAway = known.isEmpty();
            known.ifPresent(authorized);
        }
        return !turnedAway;
    }

    /**
     * The request in the API server's form, with what was kept of its body.
     *
     * @throws IllegalArgumentException if its URL is malformed
     */
    ApiRequest complete() {
        byte[] body = chunks == null ? whole : ByteBufUtil.getBytes(chunks);
        whole = new byte[0];
        dropChunks();
        return request(turnedAway ? new byte[0] : body);
    }

    private ApiRequest request(byte[] body) {
        QueryStringDecoder decoder = new QueryStringDecoder(head.uri(), StandardCharsets.UTF_8, true, PARAMETERS, true);
        return new ApiRequest(
                head.method().name(),
                decoder.path(),
                decoder.parameters(),
                headers(head),
                body,
                certificate,
                head.uri(),
                source(context));
    }

    /** Drops what is kept of it and gives back what it holds. Idempotent. */
    void release() {
        dropBody();
        giveBack(heldByHead);
        heldByHead = 0;
    }

    private void dropBody() {
        dropChunks();
        giveBack(heldByBody);
        heldByBody = 0;
    }

    private void dropChunks() {
        if (chunks != null) {
            chunks.release();
            chunks = null;
        }
    }

    private void giveBack(long bytes) {
        if (bytes > 0) {
            serverContext.bodies.giveBack(sender, bytes);
        }
    }

    /** The headers by lower-case name; joins repeated ones. Takes one pass, because there may be ten thousand headers. */
    private static Map<String, String> headers(HttpRequest request) {
        Map<String, String> headers = new HashMap<>();
        Map<String, StringBuilder> several = new HashMap<>();
        request.headers().forEach(header -> {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            String first = headers.putIfAbsent(name, header.getValue());
            if (first != null) {
                several.computeIfAbsent(name, known -> new StringBuilder(first))
                        // Not joined by commas, because names of users and groups may contain commas.
                        .append(name.startsWith("impersonate-") ? '\n' : ',')
                        .append(header.getValue());
            }
        });
        several.forEach((name, values) -> headers.put(name, values.toString()));
        return headers;
    }

    /** The address of the client. */
    private static String source(ChannelHandlerContext context) {
        return context.channel().remoteAddress() instanceof InetSocketAddress address && address.getAddress() != null
                ? address.getAddress().getHostAddress()
                : "";
    }

    /** The bytes of a part of a message, which may be a whole one. */
    static long bytes(Object part) {
        long bytes = part instanceof HttpContent content ? content.content().readableBytes() : 0;
        if (part instanceof HttpRequest request) {
            bytes += request.uri().length();
            for (Map.Entry<String, String> header : request.headers()) {
                bytes += HEADER + header.getKey().length() + header.getValue().length();
            }
        }
        return bytes;
    }
}
