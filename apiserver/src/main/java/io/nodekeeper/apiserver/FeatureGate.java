package io.nodekeeper.apiserver;

import java.util.Arrays;
import java.util.List;

/** What {@code --feature-gates} of an API server can switch. */
public enum FeatureGate {
    /**
     * Kubernetes' gate of that name, on since 1.32: nodes get, list and watch only their own Node, and pods only with the
     * field selector {@code spec.nodeName}. Off: they read all Nodes and pods, as kubelets and agents of before 1.32 that
     * read other nodes may need.
     */
    AUTHORIZE_NODE_WITH_SELECTORS("AuthorizeNodeWithSelectors", true);

    private final String text;
    private final boolean byDefault;

    FeatureGate(String text, boolean byDefault) {
        this.text = text;
        this.byDefault = byDefault;
    }

    /** Its name in {@code --feature-gates}. */
    public String text() {
        return text;
    }

    /** Whether it is on unless switched. */
    public boolean byDefault() {
        return byDefault;
    }

    /** The names of all gates. */
    public static List<String> names() {
        return Arrays.stream(values()).map(FeatureGate::text).toList();
    }
}
