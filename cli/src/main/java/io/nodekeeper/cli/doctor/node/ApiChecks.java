package io.nodekeeper.cli.doctor.node;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.host.LinuxHost;
import io.nodekeeper.agent.problems.ClockCheck;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.ServerDate;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.GoDuration;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** The checks that ask the API server: whether it answers, what it says about this node and its lease, and its clock. */
final class ApiChecks {
    static final String SERVER = "API server";
    static final String NODE = "the Node object";
    static final String LEASE = "lease";
    static final String CLOCK = "clock";
    /** Kubernetes' default lease duration, for a lease that has none of its own. */
    static final Duration LEASE_DURATION = Duration.ofSeconds(40);

    private ApiChecks() {}

    /** One check; without access it says why. */
    private record ApiCheck(String name, String fault, Optional<CompletableFuture<CheckResult>> result)
            implements NodeCheck {
        @Override
        public CompletableFuture<CheckResult> run() {
            return result.orElseGet(() -> CompletableFuture.completedFuture(CheckResult.unknown(name, fault)));
        }
    }

    /** All of them. */
    static List<NodeCheck> of(NodeAccess access, Optional<ApiServerReads> reads, Clock clock) {
        Function<ApiServerReads, CompletableFuture<CheckResult>> server = api -> api.ready()
                .handle((reply, error) -> error == null
                        ? server(api.server().toString(), reply)
                        : CheckResult.failed(
                                SERVER,
                                "it cannot be reached: " + Failures.text(error)
                                        + "; without renewals the node becomes Unknown",
                                "curl -kv " + api.server() + "/readyz"));
        Function<ApiServerReads, CompletableFuture<CheckResult>> node = api -> api.node()
                .thenApply(reply ->
                        node(access.nodeName(), reply, LinuxHost.bootId().strip()));
        Function<ApiServerReads, CompletableFuture<CheckResult>> lease = api -> api.lease()
                .thenApply(reply -> lease(
                        reply, access.unit(), api.date().map(ServerDate::date).orElseGet(clock::wallTime)));
        Function<ApiServerReads, CompletableFuture<CheckResult>> time =
                api -> api.ready().thenApply(reply -> clock(api.date()));
        return List.of(
                new ApiCheck(SERVER, access.fault(), reads.map(server)),
                new ApiCheck(NODE, access.fault(), reads.map(node)),
                new ApiCheck(LEASE, access.fault(), reads.map(lease)),
                new ApiCheck(CLOCK, access.fault(), reads.map(time)));
    }

    /** The result for that answer of {@code /readyz}. */
    static CheckResult server(String server, Reply reply) {
        String answers = server + " answers " + reply.status();
        return switch (reply.status()) {
            case 200 -> CheckResult.ok(SERVER, server + " is ready");
            case 401 ->
                CheckResult.failed(
                        SERVER,
                        answers + ": it does not accept the credentials of this node",
                        "kubeadm certs check-expiration");
            case 403, 404 -> CheckResult.ok(SERVER, answers + ": it can be reached");
            default -> CheckResult.warning(SERVER, answers + "; expected 200", "kubectl get --raw '/readyz?verbose'");
        };
    }

    /** The result for that answer about the Node, on a machine with that boot id. */
    static CheckResult node(String name, Reply reply, String bootId) {
        if (reply.status() == 404) {
            return CheckResult.failed(
                    NODE,
                    "there is no Node " + name + "; its kubelet or agent has not registered it",
                    "kubectl get nodes");
        }
        if (reply.status() != 200) {
            return CheckResult.unknown(NODE, "the API server answers " + reply.status() + " for Node " + name);
        }
        Node node = new Node(Json.parseObject(text(reply)));
        Optional<Condition> ready = node.ready();
        if (ready.isEmpty() || !ready.get().status().equals(Condition.TRUE)) {
            return CheckResult.failed(
                    NODE,
                    "Node " + name
                            + ready.map(no -> " is Ready=" + no.status() + ": " + no.reason() + ": " + no.message())
                                    .orElse(" has no Ready condition"),
                    "nodekeeper why " + name);
        }
        String stored = node.status().object("nodeInfo").text("bootID");
        if (!bootId.isEmpty() && !stored.isEmpty() && !stored.equals(bootId)) {
            return CheckResult.warning(
                    NODE,
                    "Node " + name + " has the boot id " + stored + "; this machine's is " + bootId
                            + ": another machine uses the name, or the status was not written since the last boot",
                    "nodekeeper why " + name);
        }
        Optional<Condition> problem = node.conditions().stream()
                .filter(condition -> !condition.type().equals(Condition.READY)
                        && condition.status().equals(Condition.TRUE))
                .findFirst();
        return problem.map(condition -> CheckResult.warning(
                        NODE,
                        "Node " + name + " is Ready, but " + condition.type() + ": " + condition.message(),
                        "nodekeeper why " + name))
                .orElseGet(() -> CheckResult.ok(NODE, "Node " + name + " is Ready"));
    }

    /** The result for that answer about the lease, which {@code unit} renews, at {@code now} by the API server's clock. */
    static CheckResult lease(Reply reply, String unit, Instant now) {
        if (reply.status() == 404) {
            return CheckResult.failed(
                    LEASE,
                    "the node has no lease; its kubelet or agent does not renew it",
                    "journalctl -u " + unit + " -n 100");
        }
        Lease lease = new Lease(reply.status() == 200 ? Json.parseObject(text(reply)) : JsonObject.EMPTY);
        Optional<Instant> renewed = lease.renewTime();
        if (renewed.isEmpty()) {
            return CheckResult.unknown(LEASE, "the API server answers " + reply.status() + " for the lease");
        }
        Duration age = Duration.ofSeconds(
                Math.max(0, Duration.between(renewed.get(), now).toSeconds()));
        String text = "the lease was renewed " + GoDuration.format(age) + " ago";
        Duration longest = lease.durationSeconds().map(Duration::ofSeconds).orElse(LEASE_DURATION);
        return age.compareTo(longest) <= 0
                ? CheckResult.ok(LEASE, text)
                : CheckResult.failed(
                        LEASE,
                        text + "; expected " + GoDuration.format(longest)
                                + " at most: the loop of the kubelet or agent stands, or this clock is wrong",
                        "journalctl -u " + unit + " -n 100");
    }

    /** The result for that reading of the API server's clock. */
    static CheckResult clock(Optional<ServerDate> date) {
        if (date.isEmpty()) {
            return CheckResult.unknown(CLOCK, "the API server sends no date");
        }
        ConditionReport report = new ClockCheck(() -> date).run().conditions().getFirst();
        return report.status().equals(Condition.TRUE)
                ? CheckResult.warning(CLOCK, report.message(), "chronyc tracking")
                : CheckResult.ok(CLOCK, report.message());
    }

    private static String text(Reply reply) {
        return new String(reply.body(), StandardCharsets.UTF_8);
    }
}
