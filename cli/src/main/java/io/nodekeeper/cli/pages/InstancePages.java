package io.nodekeeper.cli.pages;

import io.nodekeeper.client.pages.Feed;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.client.pages.Pages;
import java.net.URI;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * Pages of a process that has a random id, and below {@code /instance/ID} the same pages: the loopback address means each
 * machine itself, so an address that was published elsewhere could lead to the controller of another cluster. That one
 * refuses, because its id is another.
 */
public final class InstancePages implements Pages {
    /** The status for the id of another process: Misdirected Request. */
    public static final int MISDIRECTED = 421;

    private static final String PREFIX = "/instance/";

    private final Pages pages;
    private final String own;

    /** {@code pages} with an id from {@code random}. */
    public InstancePages(Pages pages, RandomGenerator random) {
        this.pages = pages;
        this.own = PREFIX + HexFormat.of().toHexDigits(random.nextLong());
    }

    /** The address of these pages, and of no others, at {@code server}. */
    public URI at(URI server) {
        return URI.create(server + own);
    }

    /** The server of {@code address}, whether or not that has an id. */
    public static URI server(URI address) {
        String text = address.toString();
        int prefix = text.indexOf(PREFIX);
        return prefix < 0 ? address : URI.create(text.substring(0, prefix));
    }

    @Override
    public CompletableFuture<Page> get(String path, String query) {
        if (!path.startsWith(PREFIX)) {
            return pages.get(path, query);
        }
        return path.startsWith(own + "/")
                ? pages.get(path.substring(own.length()), query)
                : CompletableFuture.completedFuture(Page.text(MISDIRECTED, "the id is that of another process"));
    }

    @Override
    public Optional<Feed> feed(String path) {
        return pages.feed(path);
    }
}
