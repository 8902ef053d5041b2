package io.nodekeeper.apiserver.negotiation;

import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;

/** Serves documents that clients cache, with an ETag that changes with the content. */
public final class EntityTags {
    private EntityTags() {}

    /** The tag of {@code document}, without quotes. */
    public static String tag(byte[] document) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(document);
            return HexFormat.of().formatHex(digest).toUpperCase(Locale.ROOT);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** The document, or 304 if the client's copy is current. */
    public static ApiResponse answer(ApiRequest request, byte[] document, Map<String, String> headers) {
        return answer(request, document, tag(document), headers);
    }

    public static ApiResponse answer(ApiRequest request, byte[] document, String tag, Map<String, String> headers) {
        Map<String, String> all = new HashMap<>(headers);
        String quoted = "\"" + tag + "\"";
        all.put("etag", quoted);
        boolean known = HeaderList.elements(request.header("if-none-match")).contains(quoted);
        if (known) {
            all.remove("content-type");
            return new ApiResponse.Full(304, all, new byte[0]);
        }
        return new ApiResponse.Full(200, all, document);
    }
}
