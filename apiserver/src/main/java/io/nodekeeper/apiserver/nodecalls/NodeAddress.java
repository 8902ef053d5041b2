package io.nodekeeper.apiserver.nodecalls;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.IpLiteral;
import io.nodekeeper.api.json.JsonObject;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Where a node's API is, as the node's status says. Immutable.
 *
 * @param host an address, never a name, whose DNS answers may change; never link-local, multicast or unspecified
 * @param loopback whether the address is one of this machine's loopback
 */
public record NodeAddress(String host, int port, boolean loopback) {
    /** The kubelet's port, for a node that does not say. */
    private static final long PORT = 10_250;

    private static final Pattern ADDRESS = Pattern.compile("[0-9.]{7,15}|[0-9A-Fa-f:.]{2,45}");

    /** The address of type InternalIP, else ExternalIP; empty if there is none that may be used. */
    public static Optional<NodeAddress> of(JsonObject node) {
        List<JsonObject> addresses =
                node.object("status").array("addresses").objects().toList();
        return Stream.of("InternalIP", "ExternalIP")
                .flatMap(type -> addresses.stream()
                        .filter(address -> address.text("type").equals(type))
                        .map(address -> address.text("address")))
                .flatMap(text -> literal(text).stream()
                        .filter(NodeAddress::isUsable)
                        .map(address -> new NodeAddress(text, port(node), address.isLoopbackAddress())))
                .findFirst();
    }

    /** The refusal of a request to a node without an address; {@code what} cannot be reached. */
    static ApiException unknown(String what, String node) {
        return ApiException.badRequest(what + " cannot be reached: the status of node " + node
                + " has no address of type InternalIP or ExternalIP");
    }

    private static Optional<InetAddress> literal(String text) {
        return ADDRESS.matcher(text).matches() ? IpLiteral.of(text) : Optional.empty();
    }

    /** Services of clouds that hand out credentials have link-local addresses. */
    private static boolean isUsable(InetAddress address) {
        return !address.isLinkLocalAddress() && !address.isMulticastAddress() && !address.isAnyLocalAddress();
    }

    private static int port(JsonObject node) {
        long port = node.object("status")
                .object("daemonEndpoints")
                .object("kubeletEndpoint")
                .number("Port")
                .orElse(PORT);
        return port > 0 && port <= 65_535 ? (int) port : (int) PORT;
    }
}
