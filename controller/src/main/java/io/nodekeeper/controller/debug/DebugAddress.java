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
 * Where the pages are of the controller that works, told through the API: an annotation of a Lease that serves nothing
 * else. It is not the lock's, whose name may be any and which its holder renews from memory. Whoever begins to work
 * overwrites what the one before him told.
 */
public final class DebugAddress {
    /** The annotation whose value is a URL such as {@code http://127.0.0.1:10257}. */
    public static final String ANNOTATION = "nodekeeper.io/debug-address";
    /** The namespace of the Lease. */
    public static final String NAMESPACE = "kube-system";
    /** The name of the Lease. */
    public static final String NAME = "nodekeeper-controller";

    private static final Logger log = LoggerFactory.getLogger(DebugAddress.class);
    /** Between tries to tell it. Chosen. */
    private static final Duration RETRY = Duration.ofSeconds(10);

    private static final int TRIES = 30;

    private DebugAddress() {}

    /**
     * Tells where the pages are of the controller that begins to work, or that it has none; goes on trying for some
     * minutes. On the loop.
     */
    public static void tell(KubeClient client, Optional<URI> url) {
        tell(client, url, 1);
    }

    private static void tell(KubeClient client, Optional<URI> url, int number) {
        JsonValue value =
                url.<JsonValue>map(told -> new JsonString(told.toString())).orElse(JsonNull.NULL);
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
                    String told = url.map(URI::toString).orElse("that there are no pages");
                    if (number < TRIES) {
                        log.debug("{} cannot be told in the API: {}; again in {}", told, Failures.text(error), RETRY);
                        client.loop().schedule(RETRY, () -> tell(client, url, number + 1));
                    } else {
                        log.warn("{} could not be told in the API: {}", told, Failures.text(error));
                    }
                });
    }

    private static CompletableFuture<JsonObject> create(KubeClient client, Optional<URI> url, JsonObject metadata) {
        return url.isEmpty()
                ? CompletableFuture.completedFuture(JsonObject.EMPTY)
                : client.create(ResourceType.LEASES, NAMESPACE, lease(metadata));
    }

    /** The address that the API tells. */
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
