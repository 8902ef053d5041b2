package io.nodekeeper.cli.pages;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;

/** The headers that tell browsers what the pages may do: run and load only what this server serves. */
final class BrowserRules {
    /** No inline scripts or styles, no other hosts, no frames. */
    static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            + " img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

    private BrowserRules() {}

    static void add(HttpHeaders headers) {
        headers.set(HttpHeaderNames.CONTENT_SECURITY_POLICY, POLICY)
                .set("x-content-type-options", "nosniff")
                .set("referrer-policy", "no-referrer")
                .set("cross-origin-resource-policy", "same-origin")
                .set(HttpHeaderNames.CACHE_CONTROL, "no-store");
    }
}
