package io.nodekeeper.simulator;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import io.nodekeeper.controller.ControllerConfig;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/**
 * Knows what was done to the cluster and judges what became of it: no verdict against a node whose renewal arrived within
 * the grace or would have arrived but for the control plane, each due verdict on time, nodes that are back Ready soon, and
 * taints that follow. Everything is seen in the API. Confined to virtual time.
 */
final class Oracle implements Observer.Sights {
    /** How late a verdict may be: the architecture's budget, and the few messages (2 ms at most each) that it takes. */
    private static final Duration LATE = Duration.ofMillis(110);
    /** In which a control plane that was away comes back to its senses: the bound that the project has set itself. */
    private static final Duration RECOVERY = Duration.ofSeconds(5);
    /**
     * A node whose own fault lasted less than this share of the grace would have been heard of in time: of the default 50 s
     * a renewal's period (10 s) and a return (11.4 s) leave 28 s. Chosen.
     */
    private static final double OWN_FAULT = 0.5;
    /** A status period with its jitter of 4 %, and a second for the calls. */
    private static final Duration RETURN = Duration.ofMillis(11_400);
    /** In which taints must follow conditions (the specification's bound). */
    private static final Duration TAINTS = Duration.ofSeconds(1);

    private static final long NEVER = -1;

    private static final class Facts {
        private final String name;
        private String ready = "";
        private String heartbeat = "";
        private String taints = "";
        private long heardAt;
        private boolean known;
        private boolean faulty;
        private long faultySince;
        /** For how long it was faulty since it was last heard of, in spells that are over. */
        private long faultyFor;

        private boolean armed;
        private long returnedAt = NEVER;
        private long wrongTaintsSince = NEVER;

        private Facts(String name) {
            this.name = name;
        }
    }

    private final VirtualTime.VirtualLoop loop;
    private final ControllerConfig config;
    private final Trace trace;
    private final Tally tally;
    private final Map<String, Facts> nodes = new TreeMap<>();
    private boolean controlDown;
    /** When the control plane was last found or made whole again. */
    private long controlSince;

    Oracle(VirtualTime time, ControllerConfig config, Trace trace, Tally tally) {
        this.loop = time.loop("oracle");
        this.config = config;
        this.trace = trace;
        this.tally = tally;
    }

    /** The state of control plane or its connections has changed. */
    void controlIs(boolean healthy) {
        controlDown = !healthy;
        controlSince = now();
    }

    /** The state of a node's machine, process or cable has changed. */
    void nodeIs(String name, boolean healthy) {
        Facts node = nodes.computeIfAbsent(name, Facts::new);
        if (node.faulty && healthy) {
            node.faultyFor = faultyFor(node);
        } else if (!node.faulty && !healthy) {
            node.faultySince = now();
        }
        node.faulty = !healthy;
        node.returnedAt = healthy ? now() : NEVER;
        if (healthy) {
            long returned = now();
            loop.schedule(RETURN, () -> checkReturn(node, returned));
        }
    }

    /** What the API says of all nodes now, a line each. */
    void show() {
        nodes.values()
                .forEach(node -> trace.add(
                        node.name,
                        "is Ready=" + node.ready + " taints=[" + node.taints + "] last heard "
                                + GoDuration.format(Duration.ofMillis((now() - node.heardAt) / 1_000_000)) + " ago"));
    }

    @Override
    public void lease(JsonObject lease) {
        tally.renewals++;
        heard(nodes.computeIfAbsent(new Lease(lease).name(), Facts::new));
    }

    @Override
    public void node(JsonObject json) {
        Node object = new Node(json);
        Facts node = nodes.computeIfAbsent(object.name(), Facts::new);
        if (!node.known) {
            node.known = true;
            node.ready = "";
            node.heartbeat = "";
            trace.add(node.name, "Node created");
            heard(node);
        }
        String ready = object.ready().map(Condition::status).orElse("");
        String heartbeat =
                object.ready().map(c -> c.json().text("lastHeartbeatTime")).orElse("");
        if (!ready.equals(Condition.UNKNOWN) && !heartbeat.equals(node.heartbeat)) {
            heard(node);
        }
        node.heartbeat = heartbeat;
        if (!ready.equals(node.ready)) {
            String before = node.ready;
            node.ready = ready;
            flipped(node, before, object.ready().map(Condition::reason).orElse(""));
        }
        taints(node, object);
    }

    @Override
    public void nodeGone(JsonObject json) {
        Facts node = nodes.computeIfAbsent(new Node(json).name(), Facts::new);
        node.known = false;
        trace.add(node.name, "Node deleted");
    }

    @Override
    public void event(JsonObject event) {
        trace.add(
                event.object("involvedObject").text("name"),
                "event " + event.object("source").text("component") + " " + event.text("reason") + " x"
                        + event.number("count").orElse(0L));
    }

    private void heard(Facts node) {
        node.heardAt = now();
        node.faultyFor = 0;
        arm(node);
    }

    /** One timer a node; a renewal does not move it, it finds out when it fires. */
    private void arm(Facts node) {
        if (!node.armed && node.known) {
            node.armed = true;
            loop.schedule(Duration.ofNanos(due(node) - now()), () -> checkDue(node));
        }
    }

    private long faultyFor(Facts node) {
        return node.faultyFor + (node.faulty ? now() - Math.max(node.faultySince, node.heardAt) : 0);
    }

    private long due(Facts node) {
        Duration grace = node.ready.isEmpty() ? config.nodeStartupGracePeriod() : config.nodeMonitorGracePeriod();
        long clear = controlSince == 0 ? 0 : controlSince + RECOVERY.toNanos();
        return Math.max(node.heardAt, clear) + grace.plus(LATE).toNanos();
    }

    private void checkDue(Facts node) {
        node.armed = false;
        if (!node.known || node.ready.equals(Condition.UNKNOWN)) {
            return;
        }
        if (controlDown) {
            node.armed = true;
            loop.schedule(RECOVERY, () -> checkDue(node));
        } else if (now() < due(node)) {
            arm(node);
        } else {
            tally.late++;
            trace.add(node.name, "VIOLATION still Ready=" + node.ready + ", silent for " + age(node));
        }
    }

    private void flipped(Facts node, String before, String reason) {
        if (!node.ready.equals(Condition.UNKNOWN)) {
            String back = before.equals(Condition.UNKNOWN) && node.returnedAt != NEVER
                    ? ", " + millis(now() - node.returnedAt) + " after its return"
                    : "";
            trace.add(node.name, "Ready=" + node.ready + " (" + reason + ")" + back);
            arm(node);
            return;
        }
        long silence = now() - node.heardAt;
        long grace = (before.isEmpty() ? config.nodeStartupGracePeriod() : config.nodeMonitorGracePeriod()).toNanos();
        trace.add(node.name, "Ready=Unknown (" + reason + "), silent for " + age(node));
        tally.verdicts++;
        if (silence <= grace) {
            tally.wrong++;
            trace.add(node.name, "VIOLATION marked although its last renewal arrived within the grace");
        } else if (faultyFor(node) < OWN_FAULT * grace) {
            tally.wrong++;
            trace.add(node.name, "VIOLATION marked although it was well for all but " + millis(faultyFor(node)));
        } else if (!controlDown && node.heardAt > controlSince) {
            tally.delays.add(silence - grace);
        }
    }

    private void checkReturn(Facts node, long returned) {
        boolean undisturbed = !controlDown && (controlSince == 0 || controlSince + RECOVERY.toNanos() < returned);
        if (node.returnedAt == returned && undisturbed && !node.ready.equals(Condition.TRUE)) {
            tally.notReturned++;
            trace.add(node.name, "VIOLATION back for " + GoDuration.format(RETURN) + " and still Ready=" + node.ready);
        }
    }

    private void taints(Facts node, Node object) {
        String taints = String.join(
                " ",
                object.taints().stream()
                        .map(taint -> taint.key().substring(taint.key().indexOf('/') + 1) + ":" + taint.effect())
                        .toList());
        if (!taints.equals(node.taints)) {
            node.taints = taints;
            trace.add(node.name, "taints=[" + taints + "]");
        }
        boolean right = object.hasTaint(Taint.UNREACHABLE, Taint.NO_SCHEDULE) == node.ready.equals(Condition.UNKNOWN)
                && object.hasTaint(Taint.NOT_READY, Taint.NO_SCHEDULE) == node.ready.equals(Condition.FALSE);
        if (right) {
            node.wrongTaintsSince = NEVER;
        } else if (node.wrongTaintsSince == NEVER) {
            long since = now();
            node.wrongTaintsSince = since;
            loop.schedule(TAINTS, () -> checkTaints(node, since));
        }
    }

    private void checkTaints(Facts node, long since) {
        boolean undisturbed = !controlDown && (controlSince == 0 || controlSince + RECOVERY.toNanos() < since);
        if (node.wrongTaintsSince == since && undisturbed) {
            tally.taintsLate++;
            trace.add(node.name, "VIOLATION Ready=" + node.ready + " and taints=[" + node.taints + "] for a second");
        }
    }

    private long now() {
        return loop.nanoTime();
    }

    private String age(Facts node) {
        return millis(now() - node.heardAt);
    }

    private static String millis(long nanos) {
        return GoDuration.format(Duration.ofMillis(nanos / 1_000_000));
    }
}
