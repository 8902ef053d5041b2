package io.nodekeeper.apiserver;

import java.util.Arrays;
import java.util.List;

/** The feature gates of an API server. */
public enum ApiServerFeature {
    /**
     * Kubernetes' gate of that name, enabled since 1.32: nodes get, list and watch only their own Node, and pods only
     * with the field selector {@code spec.nodeName}. Off: they read all Nodes and pods, which kubelets and agents from
     * before 1.32 may need.
     */
    AUTHORIZE_NODE_WITH_SELECTORS("AuthorizeNodeWithSelectors", true);

    private final String text;
    private final boolean byDefault;

    ApiServerFeature(String text, boolean byDefault) {
        this.text = text;
        this.byDefault = byDefault;
    }

    /** Its name in {@code --feature-gates}. */
    public String text() {
        return text;
    }

    /** Whether it is enabled by default. */
    public boolean byDefault() {
        return byDefault;
    }

    /** The names of all gates. */
    public static List<String> names() {
        return Arrays.stream(values()).map(ApiServerFeature::text).toList();
    }
}
