package io.nodekeeper.controller.debug;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
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
 * Publishes the address of the leading controller's pages in the API: as an annotation of a Lease for only this
 * purpose. It is not the lock, whose name is configurable and which its holder renews from memory. A new leader
 * overwrites the address.
 */
public final class DebugAddress {
    /** The annotation whose value is a URL such as {@code http://127.0.0.1:10257}. */
    public static final String ANNOTATION = "nodekeeper.io/debug-address";
    /** The namespace of the Lease. */
    public static final String NAMESPACE = "kube-system";
    /** The name of the Lease. */
    public static final String NAME = "nodekeeper-controller";

    private static final Logger log = LoggerFactory.getLogger(DebugAddress.class);
    /**
     * The pause between attempts to publish it: often enough to finish soon after a short outage; the address is only
     * for people.
     */
    private static final Duration RETRY = Duration.ofSeconds(10);

    private static final int TRIES = 30;

    private DebugAddress() {}

    /** Publishes the address of this controller's pages, or that it has none; retries for some minutes. On the loop. */
    public static void publish(KubeClient client, Optional<URI> url) {
        publish(client, url, 1);
    }

    private static void publish(KubeClient client, Optional<URI> url, int number) {
        JsonValue value = url.<JsonValue>map(address -> new JsonString(address.toString()))
                .orElse(JsonNull.NULL);
        JsonObject metadata = JsonObject.EMPTY.with("annotations", JsonObject.EMPTY.with(ANNOTATION, value));
        client.patch(
                        ResourceType.LEASES,
                        NAMESPACE,
                        NAME,
                        "",
                        PatchType.MERGE,
                        JsonObject.EMPTY.with("metadata", metadata))
                .exceptionallyCompose(error -> Failures.isCode(error, 404)
                        ? create(client, url, metadata)
                        : CompletableFuture.failedFuture(error))
                .whenComplete((done, error) -> {
                    if (error == null) {
                        return;
                    }
                    String what = url.map(URI::toString).orElse("the removal of the address");
                    if (number < TRIES) {
                        log.debug(
                                "Publishing {} in the API failed: {}; retrying in {}",
                                what,
                                Failures.text(error),
                                RETRY);
                        client.loop().schedule(RETRY, () -> publish(client, url, number + 1));
                    } else {
                        log.warn("Publishing {} in the API failed: {}", what, Failures.text(error));
                    }
                });
    }

    private static CompletableFuture<JsonObject> create(KubeClient client, Optional<URI> url, JsonObject metadata) {
        return url.isEmpty()
                ? CompletableFuture.completedFuture(JsonObject.EMPTY)
                : client.create(ResourceType.LEASES, NAMESPACE, lease(metadata));
    }

    /** Reads the address from the API. */
    public static CompletableFuture<Optional<URI>> find(KubeClient client) {
        return client.get(ResourceType.LEASES, NAMESPACE, NAME)
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
                .put("metadata", metadata.with("name", NAME).with("namespace", NAMESPACE))
                .put("spec", JsonObject.EMPTY)
                .build();
    }
}
