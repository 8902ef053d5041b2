package io.nodekeeper.simulator.verdicts;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.simulator.oracle.Sights;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Notes each verdict that appears in the API, and the heartbeat after it. A heartbeat is a change of a lease's {@code
 * renewTime}, or of the time of a heartbeat in a node's status that is not Unknown. Bound: the nodes and the verdicts of
 * the run. Confined to virtual time.
 */
public final class VerdictLog implements Sights {
    private final Clock clock;
    /** Whether the cluster ran before this log began. Then it is unknown when the first state of a node was sent. */
    private final boolean isRunning;

    private final long began;
    private final Map<String, Signs> nodes = new HashMap<>();
    private final List<Verdict> closed = new ArrayList<>();

    /** The time in all ended periods of blindness, nanoseconds. It does not count as silence. */
    private long excused;
    /** When the current period of blindness began. */
    private Optional<Long> blindSince = Optional.empty();

    private static final class Signs {
        private String uid = "";
        /** {@link VerdictLog#excused()} at the last heartbeat. */
        private long excusedBefore;

        private long heardAt;
        private boolean reported;
        private String renewTime = "";
        private String heartbeat = "";
        /** Whether the Node was seen. */
        private boolean known;

        private boolean unknown;
        private Optional<Verdict> open = Optional.empty();
    }

    /** A log of a cluster that is empty now, measured by {@code clock}. */
    public VerdictLog(Clock clock) {
        this(clock, false);
    }

    /**
     * A log of a cluster that runs already: the first state of a lease or a Node is no heartbeat, only its first change is. A
     * node may have been silent for long when it is seen first.
     */
    public static VerdictLog ofRunning(Clock clock) {
        return new VerdictLog(clock, true);
    }

    private VerdictLog(Clock clock, boolean isRunning) {
        this.clock = clock;
        this.isRunning = isRunning;
        this.began = clock.nanoTime();
    }

    /** All verdicts so far, by their time. */
    public List<Verdict> verdicts() {
        List<Verdict> all = new ArrayList<>(closed);
        nodes.values().forEach(signs -> signs.open.ifPresent(all::add));
        all.sort(Comparator.comparing(Verdict::at).thenComparing(Verdict::node));
        return all;
    }

    /** The observer is blind from now on. */
    public void blind() {
        blindSince = Optional.of(clock.nanoTime());
    }

    /** The observer sees everything again. */
    public void sees() {
        excused = excused();
        blindSince = Optional.empty();
    }

    private long excused() {
        return excused + blindSince.map(since -> clock.nanoTime() - since).orElse(0L);
    }

    /** Whether the API shows that node as Unknown. */
    public boolean isUnknown(String node) {
        return nodes.containsKey(node) && nodes.get(node).unknown;
    }

    @Override
    public void lease(JsonObject json) {
        Lease lease = new Lease(json);
        Signs signs = of(lease.name());
        String renewTime = json.object("spec").text("renewTime");
        if (!renewTime.equals(signs.renewTime)) {
            boolean first = signs.renewTime.isEmpty();
            signs.renewTime = renewTime;
            heard(signs, first);
        }
    }

    @Override
    public void node(JsonObject json) {
        Node node = new Node(json);
        if (of(node.name()).known && !of(node.name()).uid.equals(node.uid())) {
            nodeGone(json);
        }
        Signs signs = of(node.name());
        signs.uid = node.uid();
        Optional<Condition> ready = node.ready();
        boolean unknown = ready.filter(condition -> condition.status().equals(Condition.UNKNOWN))
                .isPresent();
        String heartbeat = ready.map(condition -> condition.json().text("lastHeartbeatTime"))
                .orElse("");
        if (!unknown && !heartbeat.equals(signs.heartbeat)) {
            signs.heartbeat = heartbeat;
            heard(signs, !signs.known);
        }
        // One that is Unknown when it is first seen was declared so before.
        if (unknown && !signs.unknown && signs.known) {
            close(signs);
            signs.open = Optional.of(new Verdict(
                    node.name(),
                    since(began),
                    silence(signs),
                    Duration.ofNanos(signs.heardAt - began),
                    signs.reported,
                    Optional.empty()));
        }
        signs.known = true;
        signs.unknown = unknown;
    }

    @Override
    public void nodeGone(JsonObject json) {
        String name = new Node(json).name();
        close(of(name));
        nodes.remove(name);
    }

    @Override
    public void event(JsonObject event) {}

    private void heard(Signs signs, boolean first) {
        if (isRunning && first) {
            return;
        }
        signs.heardAt = clock.nanoTime();
        signs.excusedBefore = excused();
        signs.reported = true;
        signs.open = signs.open.map(verdict -> new Verdict(
                verdict.node(),
                verdict.at(),
                verdict.silence(),
                verdict.lastHeardAt(),
                verdict.reported(),
                Optional.of(since(began).minus(verdict.at()))));
        close(signs);
    }

    private void close(Signs signs) {
        signs.open.ifPresent(closed::add);
        signs.open = Optional.empty();
    }

    private Signs of(String node) {
        return nodes.computeIfAbsent(node, unseen -> {
            Signs signs = new Signs();
            signs.heardAt = clock.nanoTime();
            signs.excusedBefore = excused();
            return signs;
        });
    }

    private Duration silence(Signs signs) {
        return since(signs.heardAt).minusNanos(excused() - signs.excusedBefore);
    }

    private Duration since(long moment) {
        return Duration.ofNanos(clock.nanoTime() - moment);
    }
}
