package io.nodekeeper.controller;

import io.nodekeeper.api.Node;
import io.nodekeeper.controller.history.History;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Decides when which node may get a NoExecute taint, by zones: so many a second in each, fewer or none where so much is
 * down that it is probably not about the nodes. Confined to the loop.
 */
interface Zones extends NodeFollower, NoExecute.Rules {
    /** A list of nodes is about to be seen: what follows from single ones waits for {@link #listed}. */
    void listing();

    /** All of the list was seen. */
    void listed();

    /**
     * In a pass over all nodes: this one was judged.
     *
     * @param observedReady the status of its Ready condition before this pass changed it; empty if there was none
     * @param currentReady the same after it; empty if there is none
     */
    void judged(NodeHealth health, Node node, String observedReady, String currentReady);

    /** In a pass over all nodes: all were judged. */
    void passEnded();

    /** Does nothing more. */
    void stop();

    /**
     * The zones that {@code config} asks for.
     *
     * @param nodes all known nodes
     * @param recheck is told whose taints have to be looked at, apart from a node that is just seen
     * @param graces restarted when not all zones are down any more, if that is asked for
     */
    static Zones of(
            ControllerConfig config,
            ControllerPorts ports,
            History history,
            Supplier<List<NodeHealth>> nodes,
            Consumer<NodeHealth> recheck,
            Graces graces) {
        return config.gates().has(FeatureGate.FAIR_DISRUPTION)
                ? new FairZones(config, ports.loop(), nodes, recheck, ports.metrics(), history)
                : new PassZones(config, ports.loop(), ports.random(), recheck, graces, ports.metrics());
    }
}
