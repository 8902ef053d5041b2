package io.nodekeeper.agent.metrics;

import java.util.Locale;
import java.util.regex.Pattern;

/** The kubelet's {@code operation_type} of CRI's methods: {@code PodSandboxStatus} is {@code podsandbox_status}. */
final class OperationType {
    private static final Pattern WORD_BEGIN = Pattern.compile("(?<=[a-z])(?=[A-Z])");

    private OperationType() {}

    /** Of {@code method}, as CRI names it; also of those that CRI may get one day. */
    static String of(String method) {
        String words = WORD_BEGIN.matcher(method).replaceAll("_").toLowerCase(Locale.ROOT);
        // The kubelet joins these two words.
        return words.replace("pod_sandbox", "podsandbox");
    }
}
