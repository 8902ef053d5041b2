package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.status.ResourceList;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The downward API: the values of a pod's own fields.
 *
 * @param node the pod's node
 * @param podIps the addresses of its sandbox; those of the node on the host's network
 */
public record DownwardFields(Pod pod, NodeSettings node, List<String> podIps) {

    /**
     * The value of {@code fieldPath}.
     *
     * @throws ContainerConfigException if there is no such field
     */
    public String field(String fieldPath) {
        if (fieldPath.endsWith("']") || fieldPath.endsWith("\"]")) {
            return subscripted(fieldPath);
        }
        return switch (fieldPath) {
            case "metadata.name" -> pod.name();
            case "metadata.namespace" -> pod.namespace();
            case "metadata.uid" -> pod.uid();
            case "metadata.labels" -> lines(pod.labels());
            case "metadata.annotations" -> lines(pod.annotations());
            case "spec.nodeName" -> node.name();
            case "spec.serviceAccountName" -> pod.spec().text("serviceAccountName");
            case "status.hostIP" -> node.addresses().stream().findFirst().orElse("");
            case "status.hostIPs" -> String.join(",", node.addresses());
            case "status.podIP" -> podIps.stream().findFirst().orElse("");
            case "status.podIPs" -> String.join(",", podIps);
            default -> throw new ContainerConfigException("unsupported fieldPath: " + fieldPath);
        };
    }

    /**
     * The value of a {@code resourceFieldRef} of {@code container}. A limit that is not set is the node's allocatable
     * amount, a request that is not set is 0.
     *
     * @throws ContainerConfigException if there is no such resource
     */
    public String resource(ContainerSpec container, JsonObject reference) {
        String name = reference.text("resource");
        String resource = name.substring(name.indexOf('.') + 1);
        Quantity amount = switch (name) {
            case "limits.cpu", "limits.memory", "limits.ephemeral-storage" ->
                container
                        .limit(resource)
                        .orElseGet(() -> node.allocatable()
                                .get(resource)
                                .flatMap(Quantity::from)
                                .orElse(Quantity.ZERO));
            case "requests.cpu", "requests.memory", "requests.ephemeral-storage" ->
                container.request(resource).orElse(Quantity.ZERO);
            default -> {
                boolean limit = name.startsWith("limits.");
                if (!ResourceList.hugePages(resource) || !(limit || name.startsWith("requests."))) {
                    throw new ContainerConfigException("unsupported container resource: " + name);
                }
                yield (limit ? container.limit(resource) : container.request(resource)).orElse(Quantity.ZERO);
            }
        };
        Quantity divisor = reference
                .get("divisor")
                .flatMap(Quantity::from)
                .filter(value -> !value.isZero())
                .orElse(Quantity.of(1));
        return amount.value().divide(divisor.value(), 0, RoundingMode.UP).toPlainString();
    }

    private String subscripted(String path) {
        String prefix = path.substring(0, Math.max(0, path.indexOf('[')));
        String key = path.substring(prefix.length() + 2, path.length() - 2);
        return switch (prefix) {
            case "metadata.labels" -> pod.labels().getOrDefault(key, "");
            case "metadata.annotations" -> pod.annotations().getOrDefault(key, "");
            default -> throw new ContainerConfigException("unsupported fieldPath: " + path);
        };
    }

    /** Kubernetes' form: a line {@code key="value"} for each, sorted. */
    private static String lines(Map<String, String> values) {
        return new TreeMap<>(values)
                .entrySet().stream()
                        .map(entry -> entry.getKey() + "=\"" + escaped(entry.getValue()) + "\"")
                        .collect(Collectors.joining("\n"));
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\")
                .replace("\"", "\\\"")
                .replace("\n", "\\n")
                .replace("\t", "\\t");
    }
}
