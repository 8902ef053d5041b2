package io.nodekeeper.agent.status;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.api.IpLiteral;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Sets the node's addresses. Stateless. */
final class AddressSetter {
    /** Annotation for a cloud controller: the addresses that the node should have. */
    static final String PROVIDED_IP = "alpha.kubernetes.io/provided-node-ip";

    private AddressSetter() {}

    /** {@code node} with its addresses; if none can be found, it stays as it is and {@code errors} gets the reason. */
    static Node set(Node node, StatusInputs inputs, List<String> errors) {
        AgentConfig config = inputs.config();
        List<InetAddress> ips = config.nodeIps();
        boolean specified = !ips.isEmpty() && !ips.getFirst().isAnyLocalAddress();
        Node annotated = annotation(node, config, specified);
        if (config.externalCloudProvider()) {
            if (!node.status().array("addresses").isEmpty()) {
                return annotated;
            }
            if (ips.isEmpty()) {
                return with(annotated, List.of(), config.nodeName());
            }
        }
        if (ips.size() == 2) {
            return with(annotated, ips, config.nodeName());
        }
        if (specified) {
            return with(annotated, List.of(ips.getFirst()), config.nodeName());
        }
        Optional<InetAddress> found = search(inputs);
        if (found.isEmpty()) {
            String why = inputs.facts().addresses().error();
            errors.add("can't get ip address of node " + config.nodeName() + ". error: "
                    + (why.isEmpty() ? "no resolved address and no default route" : why));
            return annotated;
        }
        return with(annotated, List.of(found.get()), config.nodeName());
    }

    private static Optional<InetAddress> search(StatusInputs inputs) {
        String name = inputs.config().nodeName();
        Optional<InetAddress> literal = IpLiteral.of(name);
        if (literal.isPresent()) {
            return literal;
        }
        boolean six = inputs.config().nodeIps().stream().anyMatch(Inet6Address.class::isInstance);
        return inputs.facts().addresses().value().flatMap(known -> {
            List<InetAddress> valid = known.resolved().stream()
                    .filter(ip -> fault(ip, known.interfaces()).isEmpty())
                    .toList();
            Optional<InetAddress> resolved = ofFamily(valid, six).or(() -> ofFamily(valid, !six));
            return resolved.or(() -> ofFamily(
                    known.defaultRoute().stream()
                            .filter(ip -> fault(ip, known.interfaces()).isEmpty())
                            .toList(),
                    six));
        });
    }

    /** Why {@code ip} cannot be a node's address, in Kubernetes' wording; empty if it can. */
    static Optional<String> fault(InetAddress ip, List<InetAddress> interfaces) {
        if (ip.isLoopbackAddress()) {
            return Optional.of("nodeIP can't be loopback address");
        }
        if (ip.isMulticastAddress()) {
            return Optional.of("nodeIP can't be a multicast address");
        }
        if (ip.isLinkLocalAddress()) {
            return Optional.of("nodeIP can't be a link-local unicast address");
        }
        if (ip.isAnyLocalAddress()) {
            return Optional.of("nodeIP can't be an all zeros address");
        }
        if (!interfaces.contains(ip)) {
            return Optional.of("node IP: \"" + IpLiteral.text(ip) + "\" not found in the host's network interfaces");
        }
        return Optional.empty();
    }

    private static Optional<InetAddress> ofFamily(List<InetAddress> ips, boolean six) {
        return ips.stream().filter(ip -> ip instanceof Inet6Address == six).findFirst();
    }

    private static Node annotation(Node node, AgentConfig config, boolean specified) {
        boolean wanted = config.externalCloudProvider() && specified;
        if (!wanted && !node.annotations().containsKey(PROVIDED_IP)) {
            return node;
        }
        String value =
                String.join(",", config.nodeIps().stream().map(IpLiteral::text).toList());
        return new Node(node.json()
                .update(
                        "metadata",
                        metadata -> metadata.update(
                                "annotations",
                                all -> wanted ? all.with(PROVIDED_IP, value) : all.without(PROVIDED_IP))));
    }

    private static Node with(Node node, List<InetAddress> internal, String hostname) {
        List<JsonValue> addresses = new ArrayList<>();
        Stream.concat(
                        internal.stream().map(ip -> address("InternalIP", IpLiteral.text(ip))),
                        Stream.of(address("Hostname", hostname)))
                .forEach(addresses::add);
        return new Node(node.json().update("status", status -> status.with("addresses", new JsonArray(addresses))));
    }

    private static JsonObject address(String type, String address) {
        return JsonObject.builder().put("type", type).put("address", address).build();
    }
}
