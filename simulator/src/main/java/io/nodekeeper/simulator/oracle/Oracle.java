package io.nodekeeper.simulator.oracle;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/**
 * Receives the faults injected into a cluster, watches the API, and checks each {@link Rule}. It is independent of how
 * a controller works. Confined to virtual time.
 */
public final class Oracle implements Sights {
    private final ControllerConfig config;
    private final Scales scales;
    private final VerdictRules verdicts;
    private final TaintRules taints;
    private final NoExecuteRules noExecute;
    private final PodDeletionRules pods;
    private final LeadershipRules leadership;
    private final Map<String, NodeFacts> nodes = new TreeMap<>();

    /**
     * An oracle for a cluster that starts now.
     *
     * @param renewal the period in which nodes renew their leases
     * @param takeover how long a standby may take to replace a failed leader; zero if there is only one controller
     * @param trace receives the object and what happened to it
     */
    public Oracle(
            VirtualTime time,
            ControllerConfig config,
            Duration renewal,
            Duration takeover,
            BiConsumer<String, String> trace,
            Tally tally) {
        this.config = config;
        this.scales = new Scales(time, takeover, trace, tally);
        this.verdicts = new VerdictRules(scales, config, renewal);
        this.taints = new TaintRules(scales);
        this.noExecute = new NoExecuteRules(scales, nodes.values(), config.zones());
        this.pods = new PodDeletionRules(scales, name -> Optional.ofNullable(nodes.get(name)));
        this.leadership = new LeadershipRules(scales);
    }

    /** The API server, its disk or its connection works, or does not. */
    public void serverIs(boolean healthy) {
        if (healthy) {
            scales.server.end(scales.now());
            scales.outages.end(scales.now());
        } else {
            scales.server.begin(scales.now());
            scales.outages.begin(scales.now());
        }
    }

    /** Everything that a controller needs works, including the API server, or does not. */
    public void controlIs(boolean healthy) {
        if (healthy) {
            scales.control.end(scales.now());
        } else {
            scales.control.begin(scales.now());
        }
    }

    /** Controllers judge nodes in a way that may take longer by this time; zero if they no longer do. */
    public void judgementIsSlower(Duration by) {
        verdicts.degraded(by);
    }

    /** A controller has become active: it gives every node a whole grace. */
    public void controllerBegan() {
        scales.control.moment(scales.now());
        verdicts.controllerBegan();
        noExecute.controllerBegan();
        pods.controllerBegan();
    }

    /** The wall clocks of all controllers are right, or one of them is not. */
    public void controllerClocksAre(boolean right) {
        pods.clocksAre(right);
    }

    /** A candidate sends a write that is not about the lock. */
    public void writes(String identity, String call) {
        leadership.writes(identity, call);
    }

    /** The state of a node's machine, process or cable has changed. */
    public void nodeIs(String name, boolean healthy) {
        verdicts.nodeIs(node(name), healthy);
    }

    /** Adds what the API currently shows of each node to the trace. */
    public void show() {
        nodes.values()
                .forEach(node -> scales.trace(
                        node.name,
                        "is Ready=" + node.ready + " taints=[" + node.taintsText() + "] last heard "
                                + Scales.text(scales.now() - node.heardAt) + " ago"));
    }

    @Override
    public void lease(JsonObject lease) {
        Lease seen = new Lease(lease);
        verdicts.lease(node(seen.name()), seen);
    }

    @Override
    public void node(JsonObject json) {
        Node object = new Node(json);
        NodeFacts node = node(object.name());
        boolean isNew = !node.known || !node.uid.equals(object.uid());
        if (isNew) {
            if (!node.uid.isEmpty()) {
                scales.tally().recreated();
            }
            node.created(object, scales.now());
            verdicts.created(node);
        }
        String ready = node.ready;
        long before = node.noExecuteChangedAt;
        noExecute.changed(node, object);
        verdicts.changed(node, object);
        taints.changed(node, object);
        if (isNew || before != node.noExecuteChangedAt || !ready.equals(node.ready)) {
            noExecute.review();
        }
        if (isNew || before != node.noExecuteChangedAt) {
            pods.nodeChanged(node.name);
        }
    }

    @Override
    public void nodeGone(JsonObject json) {
        NodeFacts node = node(new Node(json).name());
        node.known = false;
        node.goneAt = scales.now();
        scales.trace(node.name, "Node deleted");
        verdicts.gone(node);
        noExecute.review();
        pods.nodeChanged(node.name);
    }

    @Override
    public void pod(JsonObject pod) {
        pods.pod(pod);
    }

    @Override
    public void podGone(JsonObject pod) {
        pods.podGone(pod);
    }

    @Override
    public void lock(JsonObject lease) {
        leadership.lock(new Lease(lease));
    }

    @Override
    public void event(JsonObject event) {
        scales.trace(
                event.object("involvedObject").text("name"),
                "event " + event.object("source").text("component") + " " + event.text("reason") + " x"
                        + event.number("count").orElse(0L));
    }

    private NodeFacts node(String name) {
        return nodes.computeIfAbsent(name, unseen -> new NodeFacts(unseen, config.flaps()));
    }
}
