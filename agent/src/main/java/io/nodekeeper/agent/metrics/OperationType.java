package io.nodekeeper.agent.metrics;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Converts CRI's method names to the kubelet's {@code operation_type}: {@code PodSandboxStatus} becomes
 * {@code podsandbox_status}.
 */
final class OperationType {
    private static final Pattern WORD_BEGIN = Pattern.compile("(?<=[a-z])(?=[A-Z])");

    private OperationType() {}

    /** The operation type of {@code method}; works for any method that CRI may add. */
    static String of(String method) {
        String words = WORD_BEGIN.matcher(method).replaceAll("_").toLowerCase(Locale.ROOT);
        // The kubelet joins these two words.
        return words.replace("pod_sandbox", "podsandbox");
    }
}
