package io.nodekeeper.apiserver.authorization.node;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonMemory;
import io.nodekeeper.api.json.JsonObject;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The relations of nodes: their pods; the secrets, configmaps, service accounts and claims that these pods use; the volumes that
 * are bound to these claims, with their secrets; and their volume attachments. One thread changes it, any thread may read.
 */
public final class NodeGraph {
    /** The annotation of a mirror pod: a node runs this pod from its own configuration and reports it to the server. */
    public static final String CONFIG_MIRROR = "kubernetes.io/config.mirror";

    /** The fields of a pod that {@link #pod} reads, for {@link Json#parseFields}. */
    public static final JsonObject POD_FIELDS = Json.parseObject("""
            {"metadata": {"namespace": true, "name": true, "annotations": {"kubernetes.io/config.mirror": true}},
             "spec": {"nodeName": true, "serviceAccountName": true, "imagePullSecrets": true, "volumes": true,
                      "containers": {"env": true, "envFrom": true},
                      "initContainers": {"env": true, "envFrom": true},
                      "ephemeralContainers": {"env": true, "envFrom": true}}}
            """);

    private enum Kind {
        POD,
        SECRET,
        CONFIG_MAP,
        SERVICE_ACCOUNT,
        CLAIM,
        VOLUME_ATTACHMENT
    }

    /** A right of a node. Comparable, because hash tables find keys of one hash code slowly unless they have an order. */
    private record Edge(String node, Kind kind, String namespace, String name) implements Comparable<Edge> {
        private static final Comparator<Edge> ORDER = Comparator.comparing(Edge::name)
                .thenComparing(Edge::namespace)
                .thenComparing(Edge::kind)
                .thenComparing(Edge::node);

        @Override
        public int compareTo(Edge other) {
            return ORDER.compare(this, other);
        }
    }

    /** Bytes of memory of an edge besides the name, and of its place in the list of an owner. */
    private static final int EDGE = 180;

    private static final int PLACE = 8;

    /** An edge and how many owners have it, which share it. Only the thread that changes the graph uses the number. */
    private static final class Held {
        private final Edge edge;
        private int owners;

        private Held(Edge edge) {
            this.edge = edge;
        }
    }

    private final Map<Edge, Held> edges = new ConcurrentHashMap<>();
    /**
     * The edges of each pod that runs on a node, and of each volume attachment; used only by the thread that changes
     * the graph.
     */
    private final Map<String, List<Edge>> owners = new HashMap<>();

    private final AtomicLong bytes = new AtomicLong();
    /** What the relations of pods take in each namespace. */
    private final Map<String, Long> bytesIn = new ConcurrentHashMap<>();

    private final VolumeGraph volumes = new VolumeGraph();

    /**
     * Whether the edges of the object at {@code key} are known. The edges of a pod on a node change only by its ephemeral
     * containers, because its spec is otherwise immutable in these fields.
     */
    public boolean knows(String key) {
        return owners.containsKey(key);
    }

    /** Adds or updates the pod at {@code key} of the store. */
    public void pod(String key, JsonObject pod) {
        String node = pod.object("spec").text("nodeName");
        boolean mirror = pod.object("metadata").object("annotations").has(CONFIG_MIRROR);
        // A node writes its mirror pods itself, so they give it no rights except to the pod.
        if (node.isEmpty()) {
            remove(key);
        } else {
            put(key, mirror ? Set.of(own(node, pod)) : edges(node, pod));
        }
    }

    /** Adds or updates the volume attachment at {@code key} of the store. */
    public void volumeAttachment(String key, JsonObject attachment) {
        String node = attachment.object("spec").text("nodeName");
        put(
                key,
                Set.of(new Edge(
                        node,
                        Kind.VOLUME_ATTACHMENT,
                        "",
                        attachment.object("metadata").text("name"))));
    }

    /** Adds or updates the persistent volume at {@code key} of the store. */
    public void volume(String key, JsonObject volume) {
        volumes.put(key, volume);
    }

    /** Removes the object at {@code key}. */
    public void remove(String key) {
        forget(owners.remove(key));
        volumes.remove(key);
    }

    /** Removes the objects at these keys. */
    public void removeIf(Predicate<String> key) {
        List.copyOf(owners.keySet()).stream().filter(key).forEach(this::remove);
        volumes.keys().stream().filter(key).forEach(volumes::remove);
    }

    private void put(String key, Set<Edge> now) {
        forget(owners.put(key, now.stream().map(this::hold).toList()));
    }

    private Edge hold(Edge edge) {
        Held held = edges.get(edge);
        if (held == null) {
            held = new Held(edge);
            edges.put(edge, held);
            count(edge, bytes(edge));
        }
        held.owners++;
        count(edge, PLACE);
        return held.edge;
    }

    private void forget(@Nullable List<Edge> gone) {
        if (gone == null) {
            return;
        }
        for (Edge edge : gone) {
            Held held = edges.get(edge);
            if (held != null && --held.owners == 0) {
                edges.remove(edge);
                count(edge, -bytes(edge));
            }
            count(edge, -PLACE);
        }
    }

    private void count(Edge edge, long more) {
        bytes.addAndGet(more);
        bytesIn.merge(edge.namespace(), more, (before, change) -> before + change == 0 ? null : before + change);
    }

    private static long bytes(Edge edge) {
        // The edges of a pod share the node's name.
        boolean owns = edge.kind() == Kind.POD || edge.kind() == Kind.VOLUME_ATTACHMENT;
        return EDGE + JsonMemory.characters(edge.name()) + (owns ? JsonMemory.characters(edge.node()) : 0);
    }

    /** About how many bytes of memory the relations of pods and volume attachments take. */
    public long bytes() {
        return bytes.get();
    }

    /** About how many bytes of memory the relations of the pods in {@code namespace} take. */
    public long bytes(String namespace) {
        return bytesIn.getOrDefault(namespace, 0L);
    }

    /** About how many bytes of memory a pod takes if no other one has the same relations. */
    public static long bytes(JsonObject pod) {
        return edges(pod.object("spec").text("nodeName"), pod).stream()
                .mapToLong(edge -> PLACE + bytes(edge))
                .sum();
    }

    boolean hasPod(String node, String namespace, String name) {
        return edges.containsKey(new Edge(node, Kind.POD, namespace, name));
    }

    private static Edge own(String node, JsonObject pod) {
        JsonObject metadata = pod.object("metadata");
        return new Edge(node, Kind.POD, metadata.text("namespace"), metadata.text("name"));
    }

    boolean hasSecret(String node, String namespace, String name) {
        return edges.containsKey(new Edge(node, Kind.SECRET, namespace, name))
                || volumes.ofSecret(namespace, name).stream().anyMatch(claim -> hasClaim(node, claim));
    }

    boolean hasClaim(String node, String namespace, String name) {
        return edges.containsKey(new Edge(node, Kind.CLAIM, namespace, name));
    }

    boolean hasVolume(String node, String name) {
        return volumes.claim(name).filter(claim -> hasClaim(node, claim)).isPresent();
    }

    private boolean hasClaim(String node, VolumeGraph.ObjectName claim) {
        return hasClaim(node, claim.namespace(), claim.name());
    }

    boolean hasConfigMap(String node, String namespace, String name) {
        return edges.containsKey(new Edge(node, Kind.CONFIG_MAP, namespace, name));
    }

    boolean hasServiceAccount(String node, String namespace, String name) {
        return edges.containsKey(new Edge(node, Kind.SERVICE_ACCOUNT, namespace, name));
    }

    boolean hasVolumeAttachment(String node, String name) {
        return edges.containsKey(new Edge(node, Kind.VOLUME_ATTACHMENT, "", name));
    }

    private static Set<Edge> edges(String node, JsonObject pod) {
        String namespace = pod.object("metadata").text("namespace");
        JsonObject spec = pod.object("spec");
        Set<Edge> edges = new HashSet<>(Set.of(own(node, pod)));
        String account = spec.text("serviceAccountName");
        edges.add(new Edge(node, Kind.SERVICE_ACCOUNT, namespace, account.isEmpty() ? "default" : account));
        secrets(spec).forEach(name -> edges.add(new Edge(node, Kind.SECRET, namespace, name)));
        configMaps(spec).forEach(name -> edges.add(new Edge(node, Kind.CONFIG_MAP, namespace, name)));
        claims(pod).forEach(name -> edges.add(new Edge(node, Kind.CLAIM, namespace, name)));
        return edges;
    }

    /** The names of all secrets that a pod refers to. */
    public static Set<String> secrets(JsonObject spec) {
        Set<String> names = new HashSet<>();
        spec.array("imagePullSecrets").objects().forEach(ref -> names.add(ref.text("name")));
        environment(spec).forEach(env -> {
            names.add(env.object("secretRef").text("name"));
            names.add(env.object("valueFrom").object("secretKeyRef").text("name"));
        });
        volumes(spec).forEach(volume -> {
            names.add(volume.object("secret").text("secretName"));
            names.add(volume.object("secret").text("name"));
            names.add(volume.object("azureFile").text("secretName"));
            names.add(volume.object("csi").object("nodePublishSecretRef").text("name"));
            Stream.of("cephfs", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos")
                    .forEach(kind ->
                            names.add(volume.object(kind).object("secretRef").text("name")));
        });
        names.remove("");
        return names;
    }

    /** The names of the claims that a pod uses; of a generic ephemeral volume the claim that is named after both. */
    private static Set<String> claims(JsonObject pod) {
        Set<String> names = new HashSet<>();
        volumes(pod.object("spec")).forEach(volume -> {
            names.add(volume.object("persistentVolumeClaim").text("claimName"));
            if (volume.has("ephemeral")) {
                names.add(pod.object("metadata").text("name") + "-" + volume.text("name"));
            }
        });
        names.remove("");
        return names;
    }

    /**
     * The resources, besides secrets and configmaps, that a pod refers to by its volumes and claims. A mirror pod must
     * not refer to them, because its node could get access to them in this way.
     */
    public static Set<String> references(JsonObject spec) {
        Set<String> kinds = new TreeSet<>();
        if (!spec.array("resourceClaims").isEmpty()) {
            kinds.add("resourceclaims");
        }
        volumes(spec).forEach(volume -> {
            if (volume.has("persistentVolumeClaim") || volume.has("ephemeral")) {
                kinds.add("persistentvolumeclaims");
            }
            if (volume.has("serviceAccountToken")) {
                kinds.add("serviceaccounts");
            }
            if (volume.has("clusterTrustBundle")) {
                kinds.add("clustertrustbundles");
            }
            if (volume.has("podCertificate")) {
                kinds.add("podcertificaterequests");
            }
            if (volume.has("glusterfs")) {
                kinds.add("endpoints");
            }
        });
        return kinds;
    }

    /** The names of all configmaps that a pod refers to. */
    public static Set<String> configMaps(JsonObject spec) {
        Set<String> names = new HashSet<>();
        environment(spec).forEach(env -> {
            names.add(env.object("configMapRef").text("name"));
            names.add(env.object("valueFrom").object("configMapKeyRef").text("name"));
        });
        volumes(spec).forEach(volume -> names.add(volume.object("configMap").text("name")));
        names.remove("");
        return names;
    }

    /** All items of the containers' {@code env} and {@code envFrom}. */
    private static Stream<JsonObject> environment(JsonObject spec) {
        return Stream.of("containers", "initContainers", "ephemeralContainers")
                .flatMap(field -> spec.array(field).objects())
                .flatMap(container -> Stream.concat(
                        container.array("env").objects(),
                        container.array("envFrom").objects()));
    }

    /** All volumes, and all sources of those that project several. */
    private static Stream<JsonObject> volumes(JsonObject spec) {
        return spec.array("volumes")
                .objects()
                .flatMap(volume -> Stream.concat(
                        Stream.of(volume),
                        volume.object("projected").array("sources").objects()));
    }
}
