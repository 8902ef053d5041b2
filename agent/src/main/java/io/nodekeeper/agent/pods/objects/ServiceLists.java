package io.nodekeeper.agent.pods.objects;

import io.nodekeeper.agent.pods.containers.ServiceEnvironment;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Futures;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The variables of the Services of namespaces, which are read when a container starts and not watched. Containers that start within a
 * second share a read, and its memory. One namespace is read at a time. Confined to its client's loop.
 */
public final class ServiceLists {
    /** Services of the core group. */
    public static final ResourceType SERVICES = new ResourceType("", "v1", "services", "Service", true);

    /** How old a list may be: as new as the other objects that a container's start reads. */
    private static final Duration AGE = Duration.ofSeconds(1);
    /** Services of one read. One may have more than a megabyte; with 12 KB each the server's answer has 600 KB. */
    private static final int PAGE = 50;
    /** The most Services of a namespace, which are a hundred reads. Those without an address count, too. */
    private static final int MOST = 5_000;
    /** How long a list may be read: as long as the deadline of one of its reads. */
    private static final Duration LONGEST = Duration.ofSeconds(10);
    /** How long a list may wait for those of other namespaces: for three that take as long as they may. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);

    private final KubeClient client;
    private final Clock clock;
    /** By namespace: those that wait, and those of which the first read was sent within {@link #AGE}. */
    private final Map<String, Listed> lists = new HashMap<>();
    /** Completes when the last list has ended. */
    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

    /** Lists of what {@code client} reads. */
    public ServiceLists(KubeClient client) {
        this.client = client.keepingOfItems(ServiceLists::kept);
        clock = client.loop().clock();
    }

    /** The variables of one namespace, which are to be read, or have been. */
    private static final class Listed {
        private final String namespace;
        /** Monotonic ns. */
        private final long asked;

        private final CompletableFuture<Map<String, String>> read = new CompletableFuture<>();
        private long began;
        private int services;
        /** Of the variables that are known. */
        private long length;

        private Listed(String namespace, long asked) {
            this.namespace = namespace;
            this.asked = asked;
        }
    }

    /** The variables of the Services of {@code namespace}. */
    public CompletableFuture<Map<String, String>> in(String namespace) {
        Listed list = lists.get(namespace);
        if (list == null) {
            Listed next = new Listed(namespace, clock.nanoTime());
            lists.put(namespace, next);
            last = Futures.after(
                    last,
                    () -> begin(next).<Void>handle((variables, error) -> {
                        end(next, variables, error);
                        return null;
                    }));
            list = next;
        }
        return list.read.copy();
    }

    private CompletableFuture<Map<String, String>> begin(Listed list) {
        list.began = clock.nanoTime();
        if (list.began - list.asked > LONGEST_WAIT.toNanos()) {
            return failed(
                    "not read, because those of other namespaces took more than " + LONGEST_WAIT.toSeconds() + " s");
        }
        client.loop().schedule(AGE, () -> lists.remove(list.namespace, list));
        return page(list, "", new HashMap<>());
    }

    private CompletableFuture<Map<String, String>> page(Listed list, String token, Map<String, String> variables) {
        String from = token.isEmpty() ? "" : "&continue=" + URLEncoder.encode(token, StandardCharsets.UTF_8);
        return client.list(SERVICES, list.namespace, "limit=" + PAGE + from).thenCompose(answer -> {
            if (!add(answer.array("items"), list, variables)) {
                return failed("namespace \"" + list.namespace + "\" must have at most " + MOST + " services, and "
                        + ServiceEnvironment.MOST + " characters of their variables, for pods with"
                        + " enableServiceLinks, got more");
            }
            String next = answer.object("metadata").text("continue");
            if (next.isEmpty()) {
                return CompletableFuture.completedFuture(Map.copyOf(variables));
            }
            return clock.nanoTime() - list.began > LONGEST.toNanos()
                    ? failed("not read within " + LONGEST.toSeconds() + " s")
                    : page(list, next, variables);
        });
    }

    /** Adds the variables of a page; false if they, or the Services, are too many. */
    private static boolean add(JsonArray page, Listed list, Map<String, String> variables) {
        list.services += page.items().size();
        for (JsonObject service : page.objects().filter(item -> !item.isEmpty()).toList()) {
            // A port's variables are longer than twice its text, and take more memory.
            if (list.length + 2L * service.text("ports").length() > ServiceEnvironment.MOST) {
                return false;
            }
            Map<String, String> own = ServiceEnvironment.of(List.of(withPorts(service)));
            list.length += ServiceEnvironment.length(own);
            variables.putAll(own);
        }
        return list.services <= MOST && list.length <= ServiceEnvironment.MOST;
    }

    private void end(Listed list, Map<String, String> variables, @Nullable Throwable error) {
        if (error != null) {
            lists.remove(list.namespace, list);
            list.read.completeExceptionally(Failures.cause(error));
            return;
        }
        // Together the lists that are kept take no more than the largest one.
        long known = lists.values().stream().mapToLong(each -> each.length).sum();
        if (known > ServiceEnvironment.MOST) {
            lists.values().removeIf(each -> each != list && each.read.isDone());
        }
        list.read.complete(variables);
    }

    private static CompletableFuture<Map<String, String>> failed(String why) {
        return CompletableFuture.failedFuture(new IllegalStateException(why));
    }

    /**
     * What variables are made from, and nothing of a Service without an address. The ports are a text: as values, those of a page would
     * take ten times as much.
     */
    private static JsonObject kept(JsonObject service) {
        if (!ServiceEnvironment.hasAddress(service)) {
            return JsonObject.EMPTY;
        }
        JsonObject spec = service.object("spec");
        List<JsonValue> ports =
                spec.array("ports").objects().map(ServiceLists::port).toList();
        return JsonObject.builder()
                .put(
                        "metadata",
                        JsonObject.EMPTY.with("name", service.object("metadata").text("name")))
                .put("spec", JsonObject.EMPTY.with("clusterIP", spec.text("clusterIP")))
                .put("ports", Json.write(new JsonArray(ports)))
                .build();
    }

    private static JsonValue port(JsonObject port) {
        return JsonObject.builder()
                .putUnlessEmpty("name", port.text("name"))
                .put("port", port.number("port").orElse(0L))
                .putUnlessEmpty("protocol", port.text("protocol"))
                .build();
    }

    private static JsonObject withPorts(JsonObject kept) {
        return kept.update("spec", spec -> spec.with("ports", Json.parse(kept.text("ports"))));
    }
}
