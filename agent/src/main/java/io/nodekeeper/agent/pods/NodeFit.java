package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.Toleration;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Whether a pod may be on this node at all, with a kubelet's reasons: by its node selector and affinity, by the ports of the host
 * that it needs, and by taints. Stateless.
 */
final class NodeFit {
    /** An address that means the same as none. */
    private static final String ANY_ADDRESS = "0.0.0.0";

    private NodeFit() {}

    /**
     * Why the pod is refused; empty if it may run.
     *
     * @param node empty if it is not known; then its labels and taints refuse nothing
     * @param active the other pods of the node
     */
    static Optional<Wanted.Eviction> refusal(Pod pod, boolean isStatic, Optional<Node> node, List<Pod> active) {
        if (node.filter(known -> !selects(pod, known)).isPresent()) {
            return refused("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
        }
        if (collides(pod, active)) {
            return refused("NodePorts", "node(s) didn't have free ports for the requested pod ports");
        }
        if (!isStatic && node.filter(known -> !tolerates(pod, known)).isPresent()) {
            return refused("TaintToleration", "node(s) had taints that the pod didn't tolerate");
        }
        return Optional.empty();
    }

    private static Optional<Wanted.Eviction> refused(String predicate, String why) {
        return Optional.of(new Wanted.Eviction(predicate, "Predicate " + predicate + " failed: " + why, false));
    }

    private static boolean selects(Pod pod, Node node) {
        boolean labels = pod.spec().object("nodeSelector").texts().entrySet().stream()
                .allMatch(wanted -> wanted.getValue().equals(node.labels().get(wanted.getKey())));
        JsonObject affinity = pod.spec().object("affinity").object("nodeAffinity");
        String required = "requiredDuringSchedulingIgnoredDuringExecution";
        return labels
                && (!affinity.has(required)
                        || affinity.object(required)
                                .array("nodeSelectorTerms")
                                .objects()
                                .anyMatch(term -> isSelected(term, node)));
    }

    /** A term without requirements selects no node. */
    private static boolean isSelected(JsonObject term, Node node) {
        List<JsonObject> expressions = term.array("matchExpressions").objects().toList();
        List<JsonObject> fields = term.array("matchFields").objects().toList();
        // The name is the only field that Kubernetes knows here.
        Map<String, String> name = Map.of("metadata.name", node.name());
        return !(expressions.isEmpty() && fields.isEmpty())
                && expressions.stream().allMatch(requirement -> holds(requirement, node.labels()))
                && fields.stream().allMatch(requirement -> holds(requirement, name));
    }

    private static boolean holds(JsonObject requirement, Map<String, String> values) {
        String key = requirement.text("key");
        Optional<String> value = Optional.ofNullable(values.get(key));
        List<String> wanted = requirement.array("values").strings().toList();
        return switch (requirement.text("operator")) {
            case "In" -> value.filter(wanted::contains).isPresent();
            case "NotIn" -> value.filter(wanted::contains).isEmpty();
            case "Exists" -> value.isPresent();
            case "DoesNotExist" -> value.isEmpty();
            case "Gt" -> compare(value, wanted).filter(sign -> sign > 0).isPresent();
            case "Lt" -> compare(value, wanted).filter(sign -> sign < 0).isPresent();
            default -> false;
        };
    }

    /** As whole numbers; empty if one of them is none. */
    private static Optional<Integer> compare(Optional<String> value, List<String> wanted) {
        String number = "-?\\d{1,18}";
        return value.filter(text -> wanted.size() == 1
                        && text.matches(number)
                        && wanted.getFirst().matches(number))
                .map(text -> Long.compare(Long.parseLong(text), Long.parseLong(wanted.getFirst())));
    }

    /** A kubelet looks at NoExecute only: the other effects are the scheduler's. */
    private static boolean tolerates(Pod pod, Node node) {
        List<Toleration> tolerations =
                pod.spec().array("tolerations").objects().map(Toleration::of).toList();
        return node.taints().stream()
                .filter(taint -> taint.effect().equals(Taint.NO_EXECUTE))
                .allMatch(taint -> tolerations.stream().anyMatch(toleration -> toleration.tolerates(taint)));
    }

    /** Whether the pod needs a port of the host that one of {@code active} has. Each of them may have thousands. */
    private static boolean collides(Pod pod, List<Pod> active) {
        List<HostPort> wanted = hostPorts(pod).toList();
        if (wanted.isEmpty()) {
            return false;
        }
        Set<HostPort> taken = active.stream().flatMap(NodeFit::hostPorts).collect(Collectors.toSet());
        Set<HostPort> takenSomewhere =
                taken.stream().map(HostPort::atAnyAddress).collect(Collectors.toSet());
        return wanted.stream()
                .anyMatch(port -> port.address().isEmpty()
                        ? takenSomewhere.contains(port)
                        : taken.contains(port) || taken.contains(port.atAnyAddress()));
    }

    /**
     * A port of the host.
     *
     * @param address empty for any
     */
    private record HostPort(String address, String protocol, long number) {
        private HostPort atAnyAddress() {
            return new HostPort("", protocol, number);
        }
    }

    /** Of containers and sidecars. With the host's network each port of a container is one of the host. */
    private static Stream<HostPort> hostPorts(Pod pod) {
        return Stream.concat(pod.initContainers().stream().filter(ContainerSpec::isSidecar), pod.containers().stream())
                .flatMap(container -> container.json().array("ports").objects())
                .map(port -> new HostPort(
                        port.text("hostIP").equals(ANY_ADDRESS) ? "" : port.text("hostIP"),
                        port.text("protocol").isEmpty() ? "TCP" : port.text("protocol"),
                        port.number("hostPort")
                                .filter(number -> number > 0)
                                .or(() -> pod.hostNetwork() ? port.number("containerPort") : Optional.empty())
                                .orElse(0L)))
                .filter(port -> port.number() > 0);
    }
}
