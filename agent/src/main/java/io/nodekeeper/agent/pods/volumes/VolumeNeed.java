package io.nodekeeper.agent.pods.volumes;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.JsonObject;
import java.util.LinkedHashSet;
import java.util.Set;

/** Something of the API that the volumes of a pod are made from. Immutable. */
public sealed interface VolumeNeed {
    /** Kubernetes' default lifetime of a token, in seconds. */
    long TOKEN_SECONDS = 3_600;

    /** A ConfigMap of the pod's namespace. */
    record ConfigMap(String name) implements VolumeNeed {}

    /** A Secret of the pod's namespace. */
    record Secret(String name) implements VolumeNeed {}

    /**
     * A token of the pod's service account.
     *
     * @param audience empty for that of the API server
     * @param seconds its lifetime
     */
    record Token(String audience, long seconds) implements VolumeNeed {}

    /** What the volumes of {@code pod} are made from. */
    static Set<VolumeNeed> of(Pod pod) {
        Set<VolumeNeed> needs = new LinkedHashSet<>();
        pod.spec().array("volumes").objects().forEach(volume -> {
            if (volume.has("configMap")) {
                needs.add(new ConfigMap(volume.object("configMap").text("name")));
            } else if (volume.has("secret")) {
                needs.add(new Secret(volume.object("secret").text("secretName")));
            } else {
                volume.object("projected").array("sources").objects().forEach(source -> projected(source, needs));
            }
        });
        return needs;
    }

    private static void projected(JsonObject source, Set<VolumeNeed> needs) {
        if (source.has("configMap")) {
            needs.add(new ConfigMap(source.object("configMap").text("name")));
        }
        if (source.has("secret")) {
            needs.add(new Secret(source.object("secret").text("name")));
        }
        if (source.has("serviceAccountToken")) {
            needs.add(token(source.object("serviceAccountToken")));
        }
    }

    /** The token that a {@code serviceAccountToken} source asks for. */
    static Token token(JsonObject source) {
        return new Token(
                source.text("audience"), source.number("expirationSeconds").orElse(TOKEN_SECONDS));
    }
}
