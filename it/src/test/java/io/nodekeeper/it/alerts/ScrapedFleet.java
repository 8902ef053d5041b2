package io.nodekeeper.it.alerts;

import java.util.Locale;
import java.util.stream.IntStream;

/** The metrics of a controller, of 1,000 agents in the zone "a" and of 200 healthy ones in the zone "b". Immutable. */
record ScrapedFleet(State nodes, State controller) {
    static final int NODES = 1_000;
    private static final int HEALTHY = 200;
    /** Kubernetes' key of a zone. */
    private static final String ZONE_KEY = "zone=\"r:\0:%s\"";

    static final ScrapedFleet CALM = new ScrapedFleet(State.WELL, State.WELL);

    /** What is wrong with the nodes of zone "a", or with the controller. */
    enum State {
        WELL,
        /** The container runtime of each node does not answer. */
        RUNTIME_HANGS,
        /** The controller has not heard the nodes for longer than usual. */
        SILENT,
        /** The nodes do not answer at all, and are Unknown. */
        DOWN,
        BLIND
    }

    /** All series at {@code seconds} since 1970, in Prometheus' text format. */
    String text(double seconds) {
        StringBuilder text = new StringBuilder();
        IntStream.range(0, NODES).forEach(node -> agent(text, "a-" + node, "a", nodes, seconds));
        IntStream.range(0, HEALTHY).forEach(node -> agent(text, "b-" + node, "b", State.WELL, seconds));
        int unready = nodes == State.DOWN ? NODES : 0;
        zone(text, "a", NODES, unready);
        zone(text, "b", HEALTHY, 0);
        controller(text, "nodekeeper_suspect_nodes", "", nodes == State.SILENT ? NODES : 0);
        controller(text, "leader_election_master_status", "name=\"lock\"", 1);
        boolean blind = controller == State.BLIND;
        controller(text, "nodekeeper_observer_blind", "hop=\"watch\"", blind ? 1 : 0);
        controller(text, "nodekeeper_observer_degraded", "how=\"none\"", blind ? 1 : 0);
        return text.toString();
    }

    private static void agent(StringBuilder text, String name, String zone, State state, double seconds) {
        String labels = "job=\"nodekeeper-agent\",instance=\"" + name + "\",zone=\"" + zone + "\"";
        boolean down = state == State.DOWN;
        line(text, "up", labels, down ? 0 : 1);
        if (down) {
            return;
        }
        boolean hangs = state == State.RUNTIME_HANGS;
        line(text, "kubelet_pleg_last_seen_seconds", labels, hangs ? seconds - 120 : seconds);
        line(text, "nodekeeper_agent_network_probe_success", labels, hangs ? 0 : 1);
        String culprit = labels + ",layer=\"container runtime\",reason=\"RuntimeStopped\"";
        line(text, "nodekeeper_agent_runtime_culprits", culprit, hangs ? 1 : 0);
    }

    private static void zone(StringBuilder text, String zone, int size, int unready) {
        String key = String.format(Locale.ROOT, ZONE_KEY, zone);
        controller(text, "node_collector_zone_size", key, size);
        controller(text, "node_collector_unhealthy_nodes_in_zone", key, unready);
        controller(text, "node_collector_zone_health", key, 100.0 * (size - unready) / size);
    }

    private static void controller(StringBuilder text, String name, String labels, double value) {
        line(
                text,
                name,
                "job=\"nodekeeper-controller\",instance=\"c1\"" + (labels.isEmpty() ? "" : "," + labels),
                value);
    }

    private static void line(StringBuilder text, String name, String labels, double value) {
        text.append(name).append('{').append(labels).append("} ").append(value).append('\n');
    }
}
