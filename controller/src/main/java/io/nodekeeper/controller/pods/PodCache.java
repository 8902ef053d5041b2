package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Toleration;
import io.nodekeeper.api.json.JsonObject;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** All pods, by UID and by node, as far as they matter here. Confined to the loop. */
final class PodCache {
    /** What became of a pod. */
    record Change(TrackedPod pod, boolean added, boolean moved, boolean tolerations) {}

    /** Lists that pods share are few, unless every pod has its own: then sharing starts over after so many. */
    private static final int SHARED = 10_000;

    private final Map<String, TrackedPod> byUid = new HashMap<>();
    /** In the order in which they came, so that everything happens in the same order in each run. */
    private final Map<String, HostNode> nodes = new LinkedHashMap<>();

    private final Map<Object, Object> shared = new HashMap<>();
    private int finished;

    /** The node of that name, made if there is none; missing since {@code now} then. */
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

    /** Whether {@code pod} is there. */
    boolean isCurrent(TrackedPod pod) {
        return byUid.get(pod.uid) == pod;
    }

    /** All pods. */
    Collection<TrackedPod> pods() {
        return Collections.unmodifiableCollection(byUid.values());
    }

    /** How many pods ran to their end and are not being deleted. */
    int finished() {
        return finished;
    }

    /** Takes over the newest state of a pod. */
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
        List<Toleration> tolerations = share(tolerations(json));
        boolean tolerationsChanged = !tolerations.equals(pod.tolerations);
        count(pod, -1);
        pod.tolerations = tolerations;
        pod.created = seconds(metadata.text("creationTimestamp"));
        pod.terminating = metadata.has("deletionTimestamp");
        status(pod, json);
        count(pod, 1);
        return new Change(pod, known == null, moved, tolerationsChanged);
    }

    /** Takes over the answer to a write that was made for the version that is known; a newer one is not replaced. */
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
        pod.ready = "";
        pod.readySince = TrackedPod.NO_TIME;
        status.array("conditions")
                .objects()
                .filter(condition -> condition.text("type").equals(Condition.READY))
                .forEach(condition -> {
                    pod.ready = word(condition.text("status"));
                    pod.readySince = seconds(condition.text("lastTransitionTime"));
                });
    }

    /** How many entries each map holds. */
    Map<String, Integer> sizes() {
        return Map.of("pods", byUid.size(), "nodes of pods", nodes.size(), "shared lists", shared.size());
    }

    /** Whether the Pod ran to its end. */
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

    /** Forgets a pod. */
    Optional<TrackedPod> remove(String uid) {
        TrackedPod pod = byUid.remove(uid);
        if (pod == null) {
            return Optional.empty();
        }
        count(pod, -1);
        leave(pod);
        return Optional.of(pod);
    }

    /** Forgets a node that is not known and has no pods. */
    void dropIfUnused(HostNode node) {
        if (!node.known && node.pods.isEmpty()) {
            nodes.remove(node.name, node);
        }
    }

    /** One of few words, always the same object of it. */
    static String word(String status) {
        return switch (status) {
            case Condition.TRUE -> Condition.TRUE;
            case Condition.FALSE -> Condition.FALSE;
            default -> Condition.UNKNOWN;
        };
    }

    private void count(TrackedPod pod, int change) {
        finished += pod.finished && !pod.terminating ? change : 0;
    }

    private static void settle(TrackedPod pod, HostNode node) {
        pod.node = node;
        pod.place = node.pods.size();
        node.pods.add(pod);
    }

    /** The last one takes its place, so that this costs the same however many there are. */
    private void leave(TrackedPod pod) {
        HostNode node = pod.node;
        TrackedPod last = node.pods.removeLast();
        if (last != pod) {
            node.pods.set(pod.place, last);
            last.place = pod.place;
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
        return KubeTime.parse(time).map(Instant::getEpochSecond).orElse(TrackedPod.NO_TIME);
    }
}
