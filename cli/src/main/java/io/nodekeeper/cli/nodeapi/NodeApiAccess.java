package io.nodekeeper.cli.nodeapi;

import io.netty.channel.Channel;
import io.nodekeeper.agent.config.NodeApiConfig;
import io.nodekeeper.agent.nodeapi.Requests;
import io.nodekeeper.cli.pages.Exposure;
import io.nodekeeper.client.access.Credentials;
import io.nodekeeper.client.access.Refusal;
import io.nodekeeper.client.pages.Page;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Who may send which request to the node's API, with a kubelet's answers to the others. Thread-safe. */
final class NodeApiAccess {
    private static final Page UNAUTHORIZED = Page.text(401, "Unauthorized");

    private final Exposure exposure;
    private final NodeApiConfig config;
    private final String node;

    /** Asks the cluster by {@code exposure}. */
    NodeApiAccess(Exposure exposure, NodeApiConfig config, String node) {
        this.exposure = exposure;
        this.config = config;
        this.node = node;
    }

    /** The page that refuses a request; empty if its sender may send it. Never fails. */
    CompletableFuture<Optional<Page>> check(Channel connection, String authorization, String method, String path) {
        Credentials shown = exposure.credentials(connection, config.reviewTokens() ? authorization : "");
        boolean unknown = shown.certificate().isEmpty() && shown.authorization().isEmpty();
        if (unknown && !config.anonymous()) {
            // Costs nothing: no review is made for it.
            return CompletableFuture.completedFuture(Optional.of(UNAUTHORIZED));
        }
        CompletableFuture<Optional<Refusal>> checked =
                config.authorize() ? exposure.check(shown, Requests.right(node, method, path)) : exposure.check(shown);
        return checked.thenApply(
                refusal -> refusal.map(why -> why.code() == 401 ? UNAUTHORIZED : Page.text(why.code(), why.message())));
    }
}
