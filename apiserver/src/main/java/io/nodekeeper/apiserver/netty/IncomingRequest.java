package io.nodekeeper.apiserver.netty;

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

/** Translates requests from Netty's form. */
final class IncomingRequest {
    /** The most parameters of a URL, above the characters that a URL may have, so that none is dropped. */
    private static final int PARAMETERS = (64 << 10) + 1;

    /** What a header takes besides its text (RFC 9113, section 10.5.1). */
    private static final int HEADER = 32;

    private IncomingRequest() {}

    /**
     * The request with this body.
     *
     * @throws IllegalArgumentException if its URL is malformed
     */
    static ApiRequest of(
            ChannelHandlerContext context, HttpRequest request, byte[] body, Optional<ClientCertificate> certificate) {
        QueryStringDecoder decoder =
                new QueryStringDecoder(request.uri(), StandardCharsets.UTF_8, true, PARAMETERS, true);
        return new ApiRequest(
                request.method().name(),
                decoder.path(),
                decoder.parameters(),
                headers(request),
                body,
                certificate,
                request.uri(),
                source(context));
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
