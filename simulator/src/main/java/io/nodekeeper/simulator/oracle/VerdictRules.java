package io.nodekeeper.simulator.oracle;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.config.DetectorConfig;
import java.time.Duration;

/**
 * Checks verdicts: none against a node that sent a heartbeat within its grace, or that could not because the API
 * server was down; one for each silence that outlasts the grace and all disturbances; and Ready again soon after a
 * recovery. Confined to virtual time.
 */
final class VerdictRules {
    /**
     * How late a verdict may be: the architecture's budget, plus the few messages (2 ms at most each) that it takes.
     */
    private static final Duration LATE = Duration.ofMillis(110);
    /**
     * How soon a recovered node is Ready: a status period (10 s) with its jitter of 4 %, and a second for the calls.
     */
    private static final Duration RETURN = Duration.ofMillis(11_400);
    /**
     * A node whose own fault lasted less than this share of the grace would have been seen in time: of the default 50 s
     * the other half leaves room for a renewal period (10 s) and a recovery (11.4 s). A shorter grace leaves less, see
     * {@link #ownFault}.
     */
    private static final double OWN_FAULT = 0.5;
    /** By how much longer than its period an agent's renewal may take. */
    private static final double JITTER = 1.04;
    /**
     * By how much the controller may underestimate an outage: a canary that waited for the end of the outage
     * for less than the 3 s that are tolerated is a proof, and proofs come once a second.
     */
    private static final long OUTAGE_EDGES = Duration.ofSeconds(4).toNanos();
    /** Shorter outages are covered by the grace itself: what remains of them is tolerated. */
    private static final long SHORT_OUTAGE = Duration.ofSeconds(8).toNanos();

    private final Scales scales;
    private final ControllerConfig config;
    /** The nodes' renewal period, nanoseconds. */
    private final long renewal;
    /** When a controller last became active, which gives every node a whole grace. */
    private long begunAt;

    /** The number of checks for silence. */
    private long checks;

    private Duration slack = Duration.ZERO;
    private long slackUntil = NodeFacts.NEVER;
    private boolean degraded;

    VerdictRules(Scales scales, ControllerConfig config, Duration renewal) {
        this.scales = scales;
        this.config = config;
        this.renewal = renewal.toNanos();
    }

    void controllerBegan() {
        begunAt = scales.now();
    }

    /** Verdicts may be later by this time from now on; {@link Duration#ZERO} ends it. */
    void degraded(Duration later) {
        if (degraded) {
            slackUntil = scales.now();
        }
        degraded = later.isPositive();
        if (later.compareTo(slack) > 0) {
            slack = later;
        }
    }

    /** The state of a node's machine, process or cable has changed. */
    void nodeIs(NodeFacts node, boolean healthy) {
        long now = scales.now();
        if (node.faulty && healthy) {
            node.faultyFor = faultyFor(node);
        } else if (!node.faulty && !healthy) {
            node.faultySince = now;
        }
        node.faulty = !healthy;
        node.returnedAt = NodeFacts.NEVER;
        if (healthy) {
            expectReady(node);
        }
    }

    void gone(NodeFacts node) {
        if (!node.faulty) {
            // The agent notices with its next status, and registers.
            expectReady(node);
        }
    }

    void created(NodeFacts node) {
        scales.trace(node.name, "Node created");
        heard(node);
    }

    void lease(NodeFacts node, Lease lease) {
        scales.tally().renewed();
        String renewTime = lease.spec().text("renewTime");
        // Writes of others to the lease are no heartbeats.
        if (!renewTime.equals(node.renewTime) && lease.holderIdentity().equals(node.name)) {
            node.renewTime = renewTime;
            heard(node);
        }
    }

    /** The node has changed; its facts are still the previous ones. */
    void changed(NodeFacts node, Node object) {
        String ready = object.ready().map(Condition::status).orElse("");
        String heartbeat =
                object.ready().map(c -> c.json().text("lastHeartbeatTime")).orElse("");
        boolean turned = !ready.equals(node.ready);
        // Only a controller sets Unknown. A recovery can be within the second that the heartbeat already shows.
        if (!ready.equals(Condition.UNKNOWN) && (turned || !heartbeat.equals(node.heartbeat))) {
            heard(node);
        }
        node.heartbeat = heartbeat;
        if (turned) {
            String before = node.ready;
            node.ready = ready;
            turned(node, before, object.ready().map(Condition::reason).orElse(""));
        }
    }

    private void turned(NodeFacts node, String before, String reason) {
        long now = scales.now();
        if (before.equals(Condition.TRUE)) {
            node.flaps.fell(now);
        }
        if (node.isReady()) {
            node.notReadySince = NodeFacts.NEVER;
        } else if (node.notReadySince == NodeFacts.NEVER) {
            node.notReadySince = now;
        }
        if (node.isUnknown()) {
            judged(node, before, reason);
            return;
        }
        String back = before.equals(Condition.UNKNOWN) && node.returnedAt != NodeFacts.NEVER
                ? ", " + Scales.text(now - node.returnedAt) + " after its return"
                : "";
        scales.trace(node.name, "Ready=" + node.ready + " (" + reason + ")" + back);
        // A node that has reported has another grace.
        node.armed = 0;
        arm(node);
    }

    /** How long a node must have been faulty that was silent for its grace. */
    private double ownFault(long grace) {
        double least = Math.min(OWN_FAULT * grace, grace - JITTER * renewal - RETURN.toNanos());
        // A grace shorter than the time from one renewal to the next, disturbances included that are not excused,
        // blames
        // nodes that are well; any longer one must not.
        return Math.max(least, JITTER * renewal + SHORT_OUTAGE + OUTAGE_EDGES < grace ? 1 : 0);
    }

    private void judged(NodeFacts node, String before, String reason) {
        long now = scales.now();
        long silence = now - node.heardAt;
        long grace = shortestGrace(before).toNanos();
        scales.trace(node.name, "Ready=Unknown (" + reason + "), silent for " + age(node));
        scales.tally().judged();
        long outage = scales.outages.longWithin(SHORT_OUTAGE, OUTAGE_EDGES, node.heardAt, now);
        long counted = silence - outage;
        if (silence <= grace) {
            violated(node, "marked although its last renewal arrived within the grace");
        } else if (counted <= grace) {
            violated(
                    node,
                    "marked although the API server was away for at least " + Scales.text(outage)
                            + " of its silence of " + age(node));
        } else if (faultyFor(node) < ownFault(grace)) {
            violated(node, "marked although it was well for all but " + Scales.text(faultyFor(node)));
        } else if (scales.control.within(Math.min(node.heardAt, now - grace), now) == 0
                && node.heardAt > begunAt
                && config.detector().kind() == DetectorConfig.Kind.FIXED
                && !isDegraded(node)) {
            scales.tally().delayed(silence - grace);
        }
        if (silence > grace) {
            count(node);
        }
    }

    private void violated(NodeFacts node, String what) {
        scales.violated(Rule.FALSE_VERDICT, node.name, what);
    }

    private void heard(NodeFacts node) {
        node.heardAt = scales.now();
        node.faultyFor = 0;
        node.counted = false;
        arm(node);
    }

    /** Schedules one check per node; a renewal does not move it, it is evaluated when it fires. */
    private void arm(NodeFacts node) {
        if (node.armed == 0 && node.known && !node.isUnknown()) {
            long check = ++checks;
            node.armed = check;
            long heard = node.heardAt;
            scales.after(
                    heard,
                    longestGrace(node.ready).plus(LATE),
                    scales.control,
                    () -> isSilentSince(node, heard, check),
                    () -> silent(node, heard, check));
        }
    }

    /** Whether there was no heartbeat since, and the node is not Unknown; if not, schedules the next check. */
    private boolean isSilentSince(NodeFacts node, long heard, long check) {
        if (node.armed != check) {
            return false;
        }
        if (node.known && !node.isUnknown() && node.heardAt == heard) {
            return true;
        }
        node.armed = 0;
        arm(node);
        return false;
    }

    /** The grace and all disturbances are over: a verdict is due, except for the grace that a new controller gives. */
    private void silent(NodeFacts node, long heard, long check) {
        count(node);
        long from = Math.max(heard, begunAt);
        Duration due = due(node);
        scales.after(from, due, scales.control, () -> isSilentSince(node, heard, check), () -> {
            if (scales.undisturbed(Math.max(heard, begunAt), scales.control)
                    < due(node).toNanos()) {
                // Since this was scheduled, another controller became active, or judgement became slower.
                silent(node, heard, check);
                return;
            }
            // Reported once: the next heartbeat schedules the next check.
            node.armed = 0;
            scales.violated(Rule.LATE_VERDICT, node.name, "still Ready=" + node.ready + ", silent for " + age(node));
        });
    }

    private Duration due(NodeFacts node) {
        Duration later = isDegraded(node) ? slack : Duration.ZERO;
        return longestGrace(node.ready).plus(LATE).plus(later);
    }

    private void count(NodeFacts node) {
        if (!node.counted) {
            node.counted = true;
            scales.tally().silent();
        }
    }

    private boolean isDegraded(NodeFacts node) {
        return degraded || slackUntil >= node.heardAt;
    }

    private void expectReady(NodeFacts node) {
        long returned = scales.now();
        long expected = ++node.returns;
        node.returnedAt = returned;
        scales.after(
                returned, RETURN, scales.server, () -> node.returns == expected && node.returnedAt == returned, () -> {
                    if (!node.known || !node.isReady()) {
                        scales.violated(
                                Rule.NOT_RETURNED,
                                node.name,
                                "back for " + Scales.text(scales.now() - returned) + " and "
                                        + (node.known ? "still Ready=" + node.ready : "still without a Node"));
                    }
                });
    }

    private long faultyFor(NodeFacts node) {
        return node.faultyFor + (node.faulty ? scales.now() - Math.max(node.faultySince, node.heardAt) : 0);
    }

    /** How long a node must have been silent at a verdict; an adaptive detector chooses up to {@link #longestGrace}. */
    private Duration shortestGrace(String ready) {
        return grace(ready, config.detector().min());
    }

    private Duration longestGrace(String ready) {
        return grace(ready, config.detector().max());
    }

    private Duration grace(String ready, Duration adaptive) {
        if (ready.isEmpty()) {
            return config.nodeStartupGracePeriod();
        }
        return config.detector().kind() == DetectorConfig.Kind.ADAPTIVE ? adaptive : config.nodeMonitorGracePeriod();
    }

    private String age(NodeFacts node) {
        return Scales.text(scales.now() - node.heardAt);
    }
}
