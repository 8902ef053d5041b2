package io.nodekeeper.cli.nodeapi;

import io.nodekeeper.client.pages.Feed;
import java.util.concurrent.CompletableFuture;

/** The place of a client that has gone. */
final class NoClient implements Feed.Reader {
    @Override
    public CompletableFuture<Void> send(byte[] bytes) {
        return CompletableFuture.failedFuture(new IllegalStateException("the client has gone"));
    }

    @Override
    public void close() {}
}
