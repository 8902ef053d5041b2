package io.nodekeeper.apiserver.netty;

import io.nodekeeper.apiserver.negotiation.Accept;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/** Compresses large responses for clients that accept gzip. */
final class Gzip {
    /** The largest response that is not compressed (Kubernetes). */
    static final int PLAIN = 128 << 10;

    private Gzip() {}

    /** Whether to compress the response. */
    static boolean wanted(ApiRequest request, ApiResponse.Full response) {
        return response.body().length > PLAIN
                && request.method().equals("GET")
                && !response.headers().containsKey("content-encoding")
                && accepted(request);
    }

    private static boolean accepted(ApiRequest request) {
        return Accept.ranges(request.header("accept-encoding")).stream()
                .anyMatch(encoding -> encoding.type().equalsIgnoreCase("gzip"));
    }

    /** The memory that it takes to compress a chunked response; 0 if the client does not accept gzip. */
    static long memory(ApiRequest request) {
        return accepted(request) ? GzipChunks.ZLIB : 0;
    }

    /** A chunked response as a stream, compressed if the client accepts gzip. */
    static ApiResponse.Streamed streamed(ApiRequest request, ApiResponse.Chunked large) {
        if (!accepted(request)) {
            return new ApiResponse.Streamed(large.status(), large.headers(), sink -> {
                sink.writeFirst(large.chunks());
                sink.end();
            });
        }
        return new ApiResponse.Streamed(large.status(), packed(large.headers()), sink -> {
            GzipChunks chunks = new GzipChunks(large.chunks());
            sink.onClose(chunks::close);
            sink.writeFirst(chunks);
            sink.end();
        });
    }

    private static Map<String, String> packed(Map<String, String> plain) {
        Map<String, String> headers = new HashMap<>(plain);
        headers.put("content-encoding", "gzip");
        headers.put("vary", "Accept-Encoding");
        return headers;
    }

    /** The response with the fastest compression (level 1, as in Kubernetes). */
    static ApiResponse.Full pack(ApiResponse.Full plain) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(plain.body().length / 4);
        try (GZIPOutputStream gzip = new Fast(out)) {
            gzip.write(plain.body());
        } catch (IOException e) {
            throw new UncheckedIOException("compressing in memory", e);
        }
        return new ApiResponse.Full(plain.status(), packed(plain.headers()), out.toByteArray());
    }

    private static final class Fast extends GZIPOutputStream {
        private Fast(ByteArrayOutputStream out) throws IOException {
            super(out, 64 << 10);
            def.setLevel(Deflater.BEST_SPEED);
        }
    }
}
