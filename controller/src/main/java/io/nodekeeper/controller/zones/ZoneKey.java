package io.nodekeeper.controller.zones;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;

/** Computes the key of a node's zone in Kubernetes' form, which metrics use, too. */
public final class ZoneKey {
    private static final String ZONE = "topology.kubernetes.io/zone";
    private static final String REGION = "topology.kubernetes.io/region";
    /** The labels from before Kubernetes 1.17. They take precedence if they exist, even if empty. */
    private static final String BETA_ZONE = "failure-domain.beta.kubernetes.io/zone";
    /** See {@link #BETA_ZONE}. */
    private static final String BETA_REGION = "failure-domain.beta.kubernetes.io/region";

    /** Region and zone are joined by a NUL byte between two colons, so that no two pairs of labels look the same. */
    private static final String BETWEEN = ":\u0000:";

    private ZoneKey() {}

    /** The key; empty for a node without region and zone. */
    public static String of(Node node) {
        JsonObject labels = node.metadata().object("labels");
        String zone = labels.text(labels.has(BETA_ZONE) ? BETA_ZONE : ZONE);
        String region = labels.text(labels.has(BETA_REGION) ? BETA_REGION : REGION);
        return zone.isEmpty() && region.isEmpty() ? "" : region + BETWEEN + zone;
    }

    /** The key in a readable form. */
    public static String text(String key) {
        return key.isEmpty() ? "\"\"" : key.replace(BETWEEN, "/");
    }
}
