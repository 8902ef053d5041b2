package io.nodekeeper.apiserver.usage;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What is known about a node. Immutable.
 *
 * @param before an earlier answer of the node
 */
record Measured(NodeSummary newest, Optional<NodeSummary> before) {

    /** The usage of the node. */
    Optional<Usage> node() {
        return Usage.of(newest.node(), before.map(NodeSummary::node));
    }

    /** The usage of a pod's containers by name; empty unless it is known of all that run. */
    Optional<Map<String, Usage>> pod(String uid) {
        Map<String, Reading> containers = newest.pods().getOrDefault(uid, Map.of());
        Map<String, Reading> earlier = before.map(summary -> summary.pods().getOrDefault(uid, Map.of()))
                .orElse(Map.of());
        Map<String, Usage> usages = new TreeMap<>();
        containers.forEach((name, reading) ->
                Usage.of(reading, Optional.ofNullable(earlier.get(name))).ifPresent(usage -> usages.put(name, usage)));
        return usages.isEmpty() || usages.size() < containers.size() ? Optional.empty() : Optional.of(usages);
    }
}
