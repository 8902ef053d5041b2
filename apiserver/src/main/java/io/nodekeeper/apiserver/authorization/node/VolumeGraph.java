package io.nodekeeper.apiserver.authorization.node;

import io.nodekeeper.api.json.JsonObject;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The persistent volumes of the cluster: the claim that each is bound to, and the secrets that it names. One thread changes it,
 * any thread may read.
 */
final class VolumeGraph {
    /** The secrets that a CSI source names and that a node needs. */
    private static final List<String> CSI_SECRETS =
            List.of("nodeStageSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef");

    /** Sources with a {@code secretRef} that means the claim's namespace if it names none. */
    private static final List<String> WITH_SECRET = List.of("cephfs", "flexVolume", "iscsi", "rbd", "scaleIO");

    /** The same, but a reference without a namespace has none. */
    private static final List<String> WITH_FULL_SECRET = List.of("cinder", "storageos");

    /** By the key in the store; as many as the store has volumes. */
    private final Map<String, Bound> byKey = new ConcurrentHashMap<>();

    private final Map<String, Bound> byName = new ConcurrentHashMap<>();
    /** The names of the volumes that name a secret. */
    private final Map<ObjectName, Set<String>> bySecret = new ConcurrentHashMap<>();

    /**
     * The namespace and name of an object. Comparable, because hash tables find keys of one hash code slowly unless they have
     * an order.
     */
    record ObjectName(String namespace, String name) implements Comparable<ObjectName> {
        private static final Comparator<ObjectName> ORDER =
                Comparator.comparing(ObjectName::name).thenComparing(ObjectName::namespace);

        @Override
        public int compareTo(ObjectName other) {
            return ORDER.compare(this, other);
        }

        private static ObjectName of(JsonObject reference) {
            return new ObjectName(reference.text("namespace"), reference.text("name"));
        }

        /** The same name; in {@code other} if this says no namespace. */
        private ObjectName in(String other) {
            return namespace.isEmpty() ? new ObjectName(other, name) : this;
        }
    }

    private record Bound(String name, ObjectName claim, Set<ObjectName> secrets) {}

    void put(String key, JsonObject volume) {
        JsonObject spec = volume.object("spec");
        if (!spec.has("claimRef")) {
            remove(key);
            return;
        }
        Bound bound = new Bound(
                volume.object("metadata").text("name"), ObjectName.of(spec.object("claimRef")), secrets(spec));
        if (bound.equals(byKey.get(key))) {
            return;
        }
        remove(key);
        byKey.put(key, bound);
        byName.put(bound.name(), bound);
        bound.secrets()
                .forEach(secret -> bySecret.computeIfAbsent(secret, name -> ConcurrentHashMap.newKeySet())
                        .add(bound.name()));
    }

    void remove(String key) {
        Bound bound = byKey.remove(key);
        if (bound == null) {
            return;
        }
        byName.remove(bound.name());
        bound.secrets()
                .forEach(secret -> bySecret.computeIfPresent(
                        secret, (name, users) -> users.remove(bound.name()) && users.isEmpty() ? null : users));
    }

    List<String> keys() {
        return List.copyOf(byKey.keySet());
    }

    /** The claim that a volume is bound to. */
    Optional<ObjectName> claim(String volume) {
        return Optional.ofNullable(byName.get(volume)).map(Bound::claim);
    }

    /** The claims of the volumes that name a secret. */
    List<ObjectName> ofSecret(String namespace, String name) {
        return bySecret.getOrDefault(new ObjectName(namespace, name), Set.of()).stream()
                .flatMap(volume -> claim(volume).stream())
                .toList();
    }

    private static Set<ObjectName> secrets(JsonObject spec) {
        String claimed = spec.object("claimRef").text("namespace");
        JsonObject azure = spec.object("azureFile");
        Stream<ObjectName> full = Stream.concat(
                        CSI_SECRETS.stream().map(field -> spec.object("csi").object(field)),
                        WITH_FULL_SECRET.stream().map(kind -> spec.object(kind).object("secretRef")))
                .map(ObjectName::of);
        Stream<ObjectName> ofClaim = Stream.concat(
                WITH_SECRET.stream()
                        .map(kind -> spec.object(kind).object("secretRef"))
                        .map(ObjectName::of),
                Stream.of(new ObjectName(azure.text("secretNamespace"), azure.text("secretName"))));
        return Stream.concat(full, ofClaim.map(secret -> secret.in(claimed)))
                .filter(secret -> !secret.name().isEmpty())
                .collect(Collectors.toUnmodifiableSet());
    }
}
