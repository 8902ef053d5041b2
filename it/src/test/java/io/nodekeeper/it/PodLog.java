package io.nodekeeper.it;

import io.nodekeeper.api.ApiObject;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Selection;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Pods as the API shows them, and when each came, was Ready and went. Thread-safe. */
final class PodLog implements AutoCloseable {
    private final Observer observer;
    private final Map<String, JsonObject> pods = new ConcurrentHashMap<>();
    private final Map<String, Long> bound = new ConcurrentHashMap<>();
    private final Map<String, Long> ready = new ConcurrentHashMap<>();
    private final Map<String, Set<String>> waited = new ConcurrentHashMap<>();

    PodLog(Path kubeconfig) {
        observer = new Observer(kubeconfig);
        observer.follow(Selection.all(ResourceType.PODS), this::seen, gone -> pods.remove(gone.name()));
    }

    /** Whether the pod is there and Ready. */
    boolean isReady(String name) {
        return pod(name).filter(PodLog::isReady).isPresent();
    }

    /** The time from the pod's first appearance, bound, to Ready. */
    Duration toReady(String name) {
        return Duration.ofNanos(time(ready, name) - time(bound, name));
    }

    /** The time from the first binding to the last Ready of these pods. */
    Duration span(List<String> names) {
        long first = names.stream().mapToLong(this::boundAt).min().orElseThrow();
        return Duration.ofNanos(names.stream().mapToLong(this::readyAt).max().orElseThrow() - first);
    }

    /** When the pod was first seen bound; monotonic ns. */
    long boundAt(String name) {
        return time(bound, name);
    }

    /** When the pod was first seen Ready; monotonic ns. */
    long readyAt(String name) {
        return time(ready, name);
    }

    private static long time(Map<String, Long> times, String name) {
        return Objects.requireNonNull(times.get(name), name);
    }

    /** The pod, while it is there. */
    Optional<JsonObject> pod(String name) {
        return Optional.ofNullable(pods.get(name));
    }

    /** The UID of a pod, which is there. */
    String uid(String name) {
        return pod(name).orElseThrow().object("metadata").text("uid");
    }

    /** The pod's status; empty if the pod is not there. */
    JsonObject status(String name) {
        return pod(name).map(pod -> pod.object("status")).orElse(JsonObject.EMPTY);
    }

    /** The status of the pod's first container; empty if there is none. */
    JsonObject container(String name) {
        return status(name).array("containerStatuses").objects().findFirst().orElse(JsonObject.EMPTY);
    }

    /** All reasons for which the pod's first container has waited so far. */
    Set<String> waited(String name) {
        return waited.getOrDefault(name, Set.of());
    }

    private void seen(ApiObject object) {
        long now = System.nanoTime();
        pods.put(object.name(), object.json());
        bound.putIfAbsent(object.name(), now);
        if (isReady(object.json())) {
            ready.putIfAbsent(object.name(), now);
        }
        String reason =
                container(object.name()).object("state").object("waiting").text("reason");
        waited.computeIfAbsent(object.name(), name -> ConcurrentHashMap.newKeySet())
                .add(reason);
    }

    private static boolean isReady(JsonObject pod) {
        return pod.object("status")
                .array("conditions")
                .objects()
                .map(Condition::new)
                .anyMatch(condition ->
                        condition.type().equals("Ready") && condition.status().equals(Condition.TRUE));
    }

    @Override
    public void close() {
        observer.close();
    }
}
