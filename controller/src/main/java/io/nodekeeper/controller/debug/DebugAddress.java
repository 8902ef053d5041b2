package io.nodekeeper.controller.debug;

import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.Failures;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.PatchType;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the controller's pages are, told through the API: an annotation of the leader's Lease, or, where nobody is
 * elected, of a Lease that serves nothing else.
 */
public final class DebugAddress {
    /** The annotation whose value is a URL such as {@code http://127.0.0.1:10257}. */
    public static final String ANNOTATION = "nodekeeper.io/debug-address";
    /** Where the Leases are. */
    public static final String NAMESPACE = "kube-system";
    /** The leader's Lease, as Kubernetes names it. */
    public static final String LEADER = "kube-controller-manager";
    /** The Lease of a controller that was not elected. */
    public static final String ALONE = "nodekeeper-controller";

    private static final Logger log = LoggerFactory.getLogger(DebugAddress.class);
    /** Between tries to tell it. Chosen. */
    private static final Duration RETRY = Duration.ofSeconds(10);

    private static final int TRIES = 30;

    private DebugAddress() {}

    /** Tells where the pages of a controller are that was not elected; goes on trying for some minutes. On the loop. */
    public static void tell(KubeClient client, URI url) {
        tell(client, url, 1);
    }

    private static void tell(KubeClient client, URI url, int number) {
        JsonObject metadata = JsonObject.EMPTY.with("annotations", JsonObject.EMPTY.with(ANNOTATION, url.toString()));
        client.patch(
                        ResourceType.LEASES,
                        NAMESPACE,
                        ALONE,
                        "",
                        PatchType.MERGE,
                        JsonObject.EMPTY.with("metadata", metadata))
                .exceptionallyCompose(error -> Failures.isCode(error, 404)
                        ? client.create(ResourceType.LEASES, NAMESPACE, lease(metadata))
                        : CompletableFuture.failedFuture(error))
                .whenComplete((told, error) -> {
                    if (error != null && number < TRIES) {
                        log.debug("{} cannot be told in the API: {}; again in {}", url, Failures.text(error), RETRY);
                        client.loop().schedule(RETRY, () -> tell(client, url, number + 1));
                    } else if (error != null) {
                        log.warn("{} could not be told in the API: {}", url, Failures.text(error));
                    }
                });
    }

    /** The address that the API tells, of the leader first. */
    public static CompletableFuture<Optional<URI>> find(KubeClient client) {
        return of(client, LEADER)
                .thenCompose(
                        leader -> leader.isPresent() ? CompletableFuture.completedFuture(leader) : of(client, ALONE));
    }

    private static CompletableFuture<Optional<URI>> of(KubeClient client, String name) {
        return client.get(ResourceType.LEASES, NAMESPACE, name)
                .thenApply(lease ->
                        parse(lease.object("metadata").object("annotations").text(ANNOTATION)))
                .exceptionallyCompose(error -> Failures.isCode(error, 404)
                        ? CompletableFuture.completedFuture(Optional.empty())
                        : CompletableFuture.failedFuture(error));
    }

    private static Optional<URI> parse(String text) {
        return List.of("http", "https").stream()
                .filter(scheme -> text.startsWith(scheme + "://"))
                .findFirst()
                .flatMap(scheme -> {
                    try {
                        return Optional.of(URI.create(text));
                    } catch (IllegalArgumentException e) {
                        log.warn("annotation {} is \"{}\"; expected a URL", ANNOTATION, text);
                        return Optional.empty();
                    }
                });
    }

    private static JsonObject lease(JsonObject metadata) {
        return JsonObject.builder()
                .put("apiVersion", ResourceType.LEASES.apiVersion())
                .put("kind", ResourceType.LEASES.kind())
                .put("metadata", metadata.with("name", ALONE).with("namespace", NAMESPACE))
                .put("spec", JsonObject.EMPTY)
                .build();
    }
}
