package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Toleration;
import io.nodekeeper.api.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Caches the relevant state of all pods, by UID and by node. Confined to the loop. */
final class PodCache {
    /** The change of a pod. */
    record Change(TrackedPod pod, boolean added, boolean moved, boolean tolerations) {}

    /**
     * The most shared lists of tolerations. Pods usually share few; if every pod has its own, the table of shared lists
     * restarts after this many.
     */
    private static final int SHARED = 10_000;

    /** The longest list that is shared. Kubernetes does not limit the number of a pod's tolerations. */
    private static final int SHORT = 16;

    private final Map<String, TrackedPod> byUid = new HashMap<>();
    /** In order of arrival, so that each run has the same order of actions. */
    private final Map<String, HostNode> nodes = new LinkedHashMap<>();

    /** The pods of each node that has pods. */
    private final Map<HostNode, List<TrackedPod>> byNode = new IdentityHashMap<>();

    private final Map<Object, Object> shared = new HashMap<>();
    private int finished;

    /** The node of that name; a new one, missing since {@code now}, if there is none. */
    HostNode node(String name, long now) {
        return nodes.computeIfAbsent(name, key -> {
            HostNode node = new HostNode(key);
            node.missingSince = now;
            return node;
        });
    }

    /** The node of that name, if it is known or has pods. */
    Optional<HostNode> findNode(String name) {
        return Optional.ofNullable(nodes.get(name));
    }

    /** All nodes, known or with pods. */
    Collection<HostNode> nodes() {
        return Collections.unmodifiableCollection(nodes.values());
    }

    /** Whether {@code pod} is in the cache. */
    boolean isCurrent(TrackedPod pod) {
        return byUid.get(pod.uid) == pod;
    }

    /** All pods. */
    Collection<TrackedPod> pods() {
        return Collections.unmodifiableCollection(byUid.values());
    }

    /** The pods of that node. */
    List<TrackedPod> pods(HostNode node) {
        return byNode.getOrDefault(node, List.of());
    }

    /** The number of finished pods that are not being deleted. */
    int finished() {
        return finished;
    }

    /** The parts of a Pod that {@link #put} reads: a tenth of one with volumes, probes and managed fields. */
    static JsonObject parts(JsonObject pod) {
        return JsonObject.builder()
                .put(
                        "metadata",
                        parts(
                                pod.object("metadata"),
                                "namespace",
                                "name",
                                "uid",
                                "resourceVersion",
                                "creationTimestamp",
                                "deletionTimestamp"))
                .put("spec", parts(pod.object("spec"), "nodeName", "tolerations"))
                .put("status", parts(pod.object("status"), "phase", "reason", "conditions"))
                .build();
    }

    private static JsonObject parts(JsonObject object, String... names) {
        JsonObject.Builder parts = JsonObject.builder();
        for (String name : names) {
            object.get(name).ifPresent(value -> parts.put(name, value));
        }
        return parts.build();
    }

    /** Updates a pod from its newest state. */
    Change put(JsonObject json, long now) {
        JsonObject metadata = json.object("metadata");
        JsonObject spec = json.object("spec");
        String uid = metadata.text("uid");
        HostNode node = node(spec.text("nodeName"), now);
        TrackedPod known = byUid.get(uid);
        TrackedPod pod = known;
        if (pod == null) {
            pod = new TrackedPod(share(metadata.text("namespace")), metadata.text("name"), uid, node);
            byUid.put(uid, pod);
            settle(pod, node);
        }
        boolean moved = pod.node != node;
        if (moved) {
            leave(pod);
            settle(pod, node);
        }
        List<Toleration> given = tolerations(json);
        // A long list of its own ends with its pod.
        List<Toleration> tolerations = given.size() <= SHORT ? share(given) : given;
        boolean tolerationsChanged = !tolerations.equals(pod.tolerations);
        count(pod, -1);
        pod.tolerations = tolerations;
        pod.created = seconds(metadata.text("creationTimestamp"));
        pod.terminating = metadata.has("deletionTimestamp");
        status(pod, json);
        count(pod, 1);
        return new Change(pod, known == null, moved, tolerationsChanged);
    }

    /** Updates a pod from the answer to a write for the version {@code version}, unless the cache has a newer one. */
    void wrote(TrackedPod pod, String version, JsonObject json) {
        if (isCurrent(pod) && pod.version.equals(version)) {
            count(pod, -1);
            status(pod, json);
            count(pod, 1);
        }
    }

    private static void status(TrackedPod pod, JsonObject json) {
        JsonObject status = json.object("status");
        pod.version = json.object("metadata").text("resourceVersion");
        pod.finished = isFinished(json);
        pod.evicted =
                status.text("phase").equals("Failed") && status.text("reason").equals("Evicted");
        pod.ready = "";
        pod.readySince = HostNode.NO_TIME;
        status.array("conditions")
                .objects()
                .filter(condition -> condition.text("type").equals(Condition.READY))
                .forEach(condition -> {
                    pod.ready = HostNode.word(condition.text("status"));
                    pod.readySince = seconds(condition.text("lastTransitionTime"));
                });
    }

    /** How many entries each map holds. */
    Map<String, Integer> sizes() {
        return Map.of("pods", byUid.size(), "nodes of pods", nodes.size(), "shared lists", shared.size());
    }

    /** Whether the Pod has finished. */
    static boolean isFinished(JsonObject pod) {
        String phase = pod.object("status").text("phase");
        return phase.equals("Succeeded") || phase.equals("Failed");
    }

    /** The tolerations of a Pod. */
    static List<Toleration> tolerations(JsonObject pod) {
        return pod.object("spec")
                .array("tolerations")
                .objects()
                .map(Toleration::of)
                .toList();
    }

    /** Removes a pod. */
    Optional<TrackedPod> remove(String uid) {
        TrackedPod pod = byUid.remove(uid);
        if (pod == null) {
            return Optional.empty();
        }
        count(pod, -1);
        leave(pod);
        return Optional.of(pod);
    }

    /** Removes a node that is unknown and has no pods. */
    void dropIfUnused(HostNode node) {
        if (!node.known && pods(node).isEmpty()) {
            nodes.remove(node.name, node);
        }
    }

    private void count(TrackedPod pod, int change) {
        finished += pod.finished && !pod.terminating ? change : 0;
    }

    private void settle(TrackedPod pod, HostNode node) {
        List<TrackedPod> pods = byNode.computeIfAbsent(node, first -> new ArrayList<>(1));
        pod.node = node;
        pod.place = pods.size();
        pods.add(pod);
    }

    /** Moves the last pod to its index, so that removal is O(1). */
    private void leave(TrackedPod pod) {
        HostNode node = pod.node;
        List<TrackedPod> pods = pods(node);
        TrackedPod last = pods.removeLast();
        if (last != pod) {
            pods.set(pod.place, last);
            last.place = pod.place;
        }
        if (pods.isEmpty()) {
            byNode.remove(node);
        }
        dropIfUnused(node);
    }

    @SuppressWarnings("unchecked")
    private <T> T share(T value) {
        if (shared.size() >= SHARED) {
            shared.clear();
        }
        Object known = shared.putIfAbsent(value, value);
        return known == null ? value : (T) known;
    }

    private static long seconds(String time) {
        return KubeTime.parse(time).map(Instant::getEpochSecond).orElse(HostNode.NO_TIME);
    }
}
