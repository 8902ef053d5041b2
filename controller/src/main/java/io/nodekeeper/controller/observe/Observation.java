package io.nodekeeper.controller.observe;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.shadow.ShadowTransport;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.metrics.ObserveMetrics;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records what a controller in observe mode would have done and when, what the cluster's own controller did and when,
 * and the differences, as log lines and decisions of kind {@code Difference}. The time of the other controller's change
 * is when the watch sent it. If the other controller is first, it is unknown what ours would have done a moment later,
 * because ours sees that it is done. Reports may come from any thread; the rest is confined to the loop.
 */
public final class Observation implements ShadowTransport.Witness {
    /** The kind of the decisions about differences. */
    public static final String DIFFERENCE = "Difference";
    /** The kind of the decision that the observation began. */
    public static final String BEGINNING = "ObservationStarted";
    /** The kind of the decision that the observation ended. */
    public static final String END = "ObservationEnded";

    /** The last state of a node. */
    private record Seen(String uid, Change.NodeState state) {}

    private static final Logger log = LoggerFactory.getLogger(Observation.class);
    /**
     * How long a change waits for the other side: a rate-limited controller may need minutes for what ours does
     * immediately, and at the default rate of 0.1 nodes per second ten minutes cover 60 nodes.
     */
    private static final Duration WINDOW = Duration.ofMinutes(10);
    /** How often to check for changes that the other side did not make. */
    private static final Duration SWEEP = Duration.ofSeconds(10);
    /** The most outcomes on the page: more than people read, in about 40 KB. */
    private static final int SHOWN = 200;
    /**
     * The most pods whose end is remembered, and the most outcomes for the median: more than a mass failure has within
     * the window, in some MB.
     */
    private static final int ENDED = 10_000;

    private final Loop loop;
    private final History history;
    private final Comparison comparison = new Comparison(WINDOW);
    private final Signs signs = new Signs();
    private final Silences silences = new Silences();
    private final Duration grace;
    private final Duration heardLately;
    private final ObserveMetrics metrics;
    /** One for each node of the cluster. */
    private final Map<String, Seen> nodes = new HashMap<>();
    /** The nodes that existed when the current list of all nodes began, and that it has not had yet. */
    private final Set<String> unlisted = new HashSet<>();

    private final Map<String, Integer> kept = new HashMap<>();
    private final ArrayDeque<JsonObject> latest = new ArrayDeque<>();
    private final LinkedHashSet<String> ended = new LinkedHashSet<>();
    private final ArrayDeque<Long> leads = new ArrayDeque<>();
    private boolean sweeping;

    /**
     * An empty observation.
     * @param loop the controller's
     * @param history stores the differences
     * @param grace the controller's own grace period. A node with a heartbeat within half of it has failed by no
     *     controller's rule, because the defaults of Kubernetes' releases (40 s and 50 s) differ by less
     * @param metrics gets the totals
     */
    public Observation(Loop loop, History history, Duration grace, ObserveMetrics metrics) {
        this.loop = loop;
        this.history = history;
        this.grace = grace;
        this.heardLately = grace.dividedBy(2);
        this.metrics = metrics;
    }

    /**
     * A history for a controller in observe mode, whose writes are withheld: it stores decisions as what the controller
     * would have done. Those about the controller itself, such as its blindness, and what nodes reported are facts; but
     * a node may have changed from a verdict that was not written.
     */
    public History wouldBe() {
        return decision -> history.add(wouldBe(decision));
    }

    private static Decision wouldBe(Decision decision) {
        if (decision.isOfController()) {
            return decision;
        }
        if (!decision.kind().equals(Decision.READY_CHANGED)) {
            return withText(decision, "Not done in observe mode: " + decision.text());
        }
        return decision.details().text("was").equals(Condition.UNKNOWN)
                ? withText(decision, decision.text() + " (Unknown may be a verdict that was not written)")
                : decision;
    }

    private static Decision withText(Decision decision, String text) {
        return new Decision(decision.at(), decision.node(), decision.uid(), decision.kind(), text, decision.details());
    }

    /** The observation begins, which the history shows, so that a report knows since when there is something to compare. */
    public void begin() {
        history.add(ofItself(
                BEGINNING,
                "begins to compare its decisions with those of the cluster's controller; its grace period is "
                        + GoDuration.format(grace)));
    }

    /** The observation ends; call it once, on the loop. Returns a summary in one line. */
    public String end() {
        history.add(ofItself(END, summary()));
        return summary();
    }

    private Decision ofItself(String kind, String text) {
        return new Decision(loop.clock().wallTime(), "", "", kind, text, JsonObject.EMPTY);
    }

    @Override
    public void kept(Call call, String plural, JsonObject before, JsonObject after) {
        loop.execute(() -> {
            kept.merge(call.method() + " " + plural, 1, Integer::sum);
            metrics.withheld(call.method(), plural);
            if (plural.equals("nodes") && !after.isEmpty()) {
                Node node = new Node(after);
                Change.between(
                                Change.NodeState.of(new Node(before)),
                                Change.NodeState.of(node),
                                node,
                                signs.episode(node))
                        .forEach(this::ours);
            } else if (plural.equals("pods")) {
                List<Change> was = Change.possible(before);
                if (after.isEmpty()) {
                    ours(Change.evicted(before));
                }
                Change.possible(after).stream()
                        .filter(change -> !was.contains(change))
                        .forEach(this::ours);
            }
        });
    }

    @Override
    public void happened(String type, String plural, JsonObject object) {
        loop.execute(() -> {
            if (plural.equals("nodes")) {
                nodeHappened(type, new Node(object));
            } else if (plural.equals("leases")) {
                leaseHappened(type, new Lease(object));
            } else if (plural.equals("pods")) {
                podHappened(type, object);
            }
        });
    }

    @Override
    public void listing(String plural) {
        if (plural.equals("nodes")) {
            loop.execute(() -> {
                unlisted.clear();
                unlisted.addAll(nodes.keySet());
            });
        }
    }

    /** Forgets nodes that were deleted while no watch was open. */
    @Override
    public void listed(String plural) {
        if (plural.equals("nodes")) {
            loop.execute(() -> {
                unlisted.forEach(this::forget);
                unlisted.clear();
            });
        }
    }

    private void forget(String node) {
        nodes.remove(node);
        signs.gone(node);
    }

    private void leaseHappened(String type, Lease lease) {
        if (!lease.namespace().equals(Lease.NODE_NAMESPACE)) {
            return;
        }
        if (!type.equals("DELETED")) {
            long now = loop.clock().nanoTime();
            signs.lease(lease, now).ifPresent(sent -> silences.heard(lease.name(), sent));
        } else if (!nodes.containsKey(lease.name())) {
            signs.gone(lease.name());
        }
    }

    private void nodeHappened(String type, Node node) {
        unlisted.remove(node.name());
        boolean replaced = Optional.ofNullable(nodes.get(node.name()))
                .filter(seen -> !seen.uid().equals(node.uid()))
                .isPresent();
        if (replaced || type.equals("DELETED")) {
            forget(node.name());
        }
        if (type.equals("DELETED")) {
            return;
        }
        long at = loop.clock().nanoTime();
        signs.node(node, at).ifPresent(sent -> silences.heard(node.name(), sent));
        Change.NodeState now = Change.NodeState.of(node);
        Seen before = nodes.put(node.name(), new Seen(node.uid(), now));
        // The first state of a node is not a new change.
        if (before != null) {
            Change.between(before.state(), now, node, signs.episode(node)).forEach(this::theirs);
        }
    }

    private void podHappened(String type, JsonObject pod) {
        boolean gone = type.equals("DELETED");
        for (Change change : gone ? List.of(Change.evicted(pod)) : Change.possible(pod)) {
            boolean eviction = change.isEviction();
            // An agent's change of its pods looks the same; it counts if this controller would have made it.
            if (comparison.isOursAlone(change) || (eviction && !gone && isNews(type, pod))) {
                if (eviction && !remember(change.uid())) {
                    continue;
                }
                theirs(change);
            }
        }
    }

    /** Whether this pod's end is new: each later event of the pod contains it again. */
    private boolean remember(String uid) {
        if (!ended.add(uid)) {
            return false;
        }
        if (ended.size() > ENDED) {
            ended.removeFirst();
        }
        return true;
    }

    private static boolean isNews(String type, JsonObject pod) {
        return !type.equals("LISTED") && Change.wasEvicted(pod);
    }

    private void ours(Change change) {
        log.info("Would have: {}", change);
        made(Comparison.Side.OURS, change);
    }

    private void theirs(Change change) {
        log.info("Happened: {}", change);
        Optional<Duration> heard =
                silence(change).filter(age -> age.compareTo(heardLately) < 0 && restsOnSilence(change));
        if (heard.isPresent()) {
            found(comparison.theirsFalse(change, loop.clock().wallTime(), heard.get()));
            count();
            return;
        }
        made(Comparison.Side.THEIRS, change);
    }

    /**
     * Whether the other controller made this change only because it received no heartbeat of the node. A heartbeat then
     * proves the change false without waiting for what this controller does.
     */
    private boolean restsOnSilence(Change change) {
        return change.isVerdict()
                || (change.isEviction()
                        && !comparison.isOursAlone(change)
                        && Optional.ofNullable(nodes.get(change.node()))
                                .map(Seen::state)
                                .filter(node -> node.unknown() && !node.evictsAnyway())
                                .isPresent());
    }

    private Optional<Duration> silence(Change change) {
        return signs.age(change.node(), loop.clock().nanoTime());
    }

    private void made(Comparison.Side side, Change change) {
        if (change.isVerdict()) {
            silences.verdict(change, silence(change), loop.clock().nanoTime());
        }
        comparison
                .made(side, change, loop.clock().wallTime(), loop.clock().nanoTime())
                .ifPresent(this::found);
        count();
        sweepLater();
    }

    private void sweepLater() {
        if (!sweeping && comparison.waiting() > 0) {
            sweeping = true;
            loop.schedule(SWEEP, () -> {
                sweeping = false;
                comparison.expired(loop.clock().nanoTime()).forEach(this::found);
                count();
                sweepLater();
            });
        }
    }

    private void count() {
        metrics.changes("both", comparison.count("both"));
        metrics.changes("ours_alone", comparison.count("oursAlone"));
        metrics.changes("theirs_alone", comparison.count("theirsAlone"));
        metrics.changes("theirs_false", comparison.count("theirsFalse"));
        metrics.changes("dropped", comparison.count("dropped"));
        metrics.waiting(comparison.waiting());
    }

    private void found(Comparison.Difference difference) {
        log.info("Difference: {}", difference.text());
        Change change = difference.change();
        JsonObject json = change.isVerdict() ? withSilence(difference) : json(difference);
        latest.add(json);
        if (latest.size() > SHOWN) {
            latest.removeFirst();
        }
        if (difference.ours().isPresent() && difference.theirs().isPresent()) {
            leads.add(difference.lead().toMillis());
            metrics.both(difference.lead().toNanos() / 1e9);
            if (leads.size() > ENDED) {
                leads.removeFirst();
            }
        }
        history.add(new Decision(
                loop.clock().wallTime(),
                change.node(),
                change.kind().equals("node") ? change.uid() : "",
                DIFFERENCE,
                difference.text(),
                json));
    }

    /** All results so far; on the loop. */
    public JsonObject json() {
        JsonObject.Builder would = JsonObject.builder();
        kept.keySet().stream().sorted().forEach(call -> would.put(call, kept.getOrDefault(call, 0)));
        long[] sorted = leads.stream().mapToLong(Long::longValue).sorted().toArray();
        JsonObject.Builder json = JsonObject.builder()
                .put("mode", "observe")
                .put("writesKeptBack", would.build())
                .put("both", comparison.count("both"))
                .put("oursAlone", comparison.count("oursAlone"))
                .put("theirsAlone", comparison.count("theirsAlone"))
                .put("theirsFalse", comparison.count("theirsFalse"))
                .put("waiting", comparison.waiting())
                .put("dropped", comparison.count("dropped"));
        if (sorted.length > 0) {
            json.put(
                    "oursBeforeTheirsMillis",
                    JsonObject.builder()
                            .put("min", sorted[0])
                            .put("p50", sorted[sorted.length / 2])
                            .put("max", sorted[sorted.length - 1])
                            .build());
        }
        return json.put("latest", new JsonArray(List.<JsonValue>copyOf(latest))).build();
    }

    /** The number of changes that wait for the other controller; on the loop. */
    public int waiting() {
        return comparison.waiting();
    }

    /** How many entries each queue and map holds, by name; on the loop. */
    public Map<String, Integer> sizes() {
        return Map.of(
                "changes that wait", comparison.waiting(),
                "observed nodes", nodes.size(),
                "signs", signs.size(),
                "verdicts with their silence", silences.size(),
                "kinds of writes", kept.size(),
                "outcomes shown", latest.size(),
                "ended pods", ended.size(),
                "leads", leads.size());
    }

    /** A summary in one line; on the loop. */
    public String summary() {
        long[] sorted = leads.stream().mapToLong(Long::longValue).toArray();
        Arrays.sort(sorted);
        return "observed: " + comparison.count("both") + " changes by both"
                + (sorted.length == 0
                        ? ""
                        : " (ours before theirs by " + sorted[sorted.length / 2] + " ms at the median)")
                + ", " + comparison.count("oursAlone") + " by ours alone, " + comparison.count("theirsAlone")
                + " by theirs alone, " + comparison.count("theirsFalse") + " of theirs false, "
                + comparison.waiting() + " open, " + comparison.count("dropped") + " dropped; "
                + kept.values().stream().mapToInt(Integer::intValue).sum() + " writes withheld";
    }

    /** A verdict with the silence around it and the grace period, which show later whether it was right. */
    private JsonObject withSilence(Comparison.Difference verdict) {
        Silences.Silence silence = silences.take(verdict.change());
        JsonObject.Builder json = json(verdict).toBuilder().put("graceMillis", grace.toMillis());
        silence.before().ifPresent(before -> json.put("silentMillisBefore", before.toMillis()));
        silence.after().ifPresent(after -> json.put("heardMillisAfter", after.toMillis()));
        return json.build();
    }

    private static JsonObject json(Comparison.Difference difference) {
        JsonObject.Builder json = JsonObject.builder()
                .put(
                        "object",
                        difference.change().kind() + " " + difference.change().name())
                .put("change", difference.change().what());
        difference.ours().ifPresent(at -> json.put("ours", KubeTime.formatMicro(at)));
        difference.theirs().ifPresent(at -> json.put("theirs", KubeTime.formatMicro(at)));
        difference.heard().ifPresent(age -> json.put("falseHeardMillisBefore", age.toMillis()));
        if (difference.ours().isPresent() && difference.theirs().isPresent()) {
            json.put("oursBeforeTheirsMillis", difference.lead().toMillis());
        }
        return json.build();
    }
}
