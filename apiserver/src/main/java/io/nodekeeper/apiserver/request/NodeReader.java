package io.nodekeeper.apiserver.request;

import java.util.concurrent.CompletableFuture;

/** Sends requests to nodes' APIs for the server itself. Implementations are thread-safe. */
@FunctionalInterface
public interface NodeReader {
    /** For a server that does not connect to nodes. */
    NodeReader NONE = (call, most) -> CompletableFuture.failedFuture(
            new IllegalStateException("this server has no certificate for connections to nodes"));

    /**
     * Gets the body of the answer to a GET. It has no deadline: the caller cancels it, which closes the connection.
     *
     * @param most the most bytes of the body; the call fails if there are more, or if the status is not 200
     */
    CompletableFuture<byte[]> read(NodeCall call, int most);
}
