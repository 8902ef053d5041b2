package io.nodekeeper.cli.doctor.node;

import io.nodekeeper.agent.facts.HostAddresses;
import io.nodekeeper.agent.host.LinuxHost;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/** The default route, from which kubelet and agent take the node's address. */
final class RouteCheck implements NodeCheck {
    private final LinuxHost host;
    private final String nodeName;

    RouteCheck(LinuxHost host, String nodeName) {
        this.host = host;
        this.nodeName = nodeName;
    }

    @Override
    public String name() {
        return "default route";
    }

    /** A resolver that hangs makes this late. */
    @Override
    public Duration deadline() {
        return Duration.ofSeconds(5);
    }

    @Override
    public CompletableFuture<CheckResult> run() {
        return host.addresses(nodeName).thenApply(RouteCheck::judge);
    }

    /** The result for a machine with these addresses. */
    static CheckResult judge(HostAddresses addresses) {
        return addresses.defaultRoute().isEmpty()
                ? CheckResult.warning(
                        "default route",
                        "no interface has the default route; without --node-ip the node's address is unknown",
                        "ip route")
                : CheckResult.ok(
                        "default route",
                        "the interface with the default route has "
                                + addresses.defaultRoute().stream()
                                        .map(InetAddress::getHostAddress)
                                        .collect(Collectors.joining(", ")));
    }
}
