package io.nodekeeper.agent.config;

import io.nodekeeper.api.Quantity;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads what is reserved on a node, as texts by resource. As in Kubernetes, a list of reserved processors replaces all
 * reserved amounts of processor time. Pure; each method adds what is wrong to {@code faults}.
 */
final class ReservedResources {
    /** The resources that Kubernetes lets an operator reserve. */
    private static final List<String> RESERVABLE = List.of("cpu", "memory", "ephemeral-storage", "pid");

    private ReservedResources() {}

    static Map<String, Quantity> kube(Map<String, String> texts, CpuConfig cpus, List<String> faults) {
        Map<String, Quantity> reserved = quantities("kubeReserved", texts, faults);
        if (!cpus.reserved().isEmpty()) {
            reserved.remove("cpu");
        }
        return reserved;
    }

    static Map<String, Quantity> system(Map<String, String> texts, CpuConfig cpus, List<String> faults) {
        Map<String, Quantity> reserved = quantities("systemReserved", texts, faults);
        if (!cpus.reserved().isEmpty()) {
            reserved.put("cpu", Quantity.of(cpus.reserved().size()));
        }
        return reserved;
    }

    private static Map<String, Quantity> quantities(String field, Map<String, String> texts, List<String> faults) {
        Map<String, Quantity> quantities = new LinkedHashMap<>();
        texts.forEach((resource, text) -> {
            try {
                Quantity quantity = Quantity.parse(text);
                if (!RESERVABLE.contains(resource)) {
                    faults.add(field + ": cannot reserve \"" + resource + "\" resource; expected one of "
                            + String.join(", ", RESERVABLE));
                }
                if (quantity.isNegative()) {
                    faults.add(field + ": " + resource + " must not be negative, got " + text);
                }
                quantities.put(resource, quantity);
            } catch (IllegalArgumentException e) {
                faults.add(field + ": " + resource + ": " + e.getMessage());
            }
        });
        return quantities;
    }
}
