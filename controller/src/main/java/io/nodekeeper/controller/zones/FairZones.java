package io.nodekeeper.controller.zones;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.taints.NoExecute;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Zones that process each change of a node immediately. A node that is not ready gets its taint immediately if its zone
 * has a token; else it waits, and the longest-waiting node is next. A node that needs no taint takes no token. While
 * all zones are fully disrupted, no node gets a taint and existing taints are removed, unless they were there at the
 * start.
 */
public final class FairZones implements Zones {
    private static final Logger log = LoggerFactory.getLogger(FairZones.class);
    /**
     * How many seconds' worth of permits may be in use: longer than a write takes. While writes fail, no more nodes are permitted, so that
     * they do not get their taints all at once when writes succeed again.
     */
    private static final int PERMITS_SECONDS = 30;
    /** How long a node may hold a permit before the next one in the queue gets its turn. */
    private static final Duration PERMIT = Duration.ofMinutes(1);

    private static final class Zone {
        private final FairQueue<NodeHealth> queue;
        /** The nodes that may get a taint and have none yet. */
        private final Map<NodeHealth, FairMember> permits = new LinkedHashMap<>();

        private int members;
        private ZoneState state = ZoneState.INITIAL;
        private Loop.@Nullable Timer timer;

        private Zone(FairQueue<NodeHealth> queue) {
            this.queue = queue;
        }

        private boolean hasPermit() {
            return permits.size() < Math.max(1, Math.ceil(queue.rate() * PERMITS_SECONDS));
        }
    }

    private final boolean keepTaints;
    /** How long after its verdict a node enters the queue; zero if the gate is enabled. */
    private final Duration lag;
    /** How long a new node may be not ready before it enters the queue. */
    private final Duration joinGrace;

    private final Loop loop;
    private final Supplier<List<NodeHealth>> nodes;
    private final Consumer<NodeHealth> recheck;
    private final ControllerMetrics metrics;
    private final History history;
    private final FairDisruption disruption;
    private final Map<String, Zone> zones = new TreeMap<>();
    /** One for each node. */
    private final Map<NodeHealth, FairMember> members = new IdentityHashMap<>();

    private boolean stripAll;
    private boolean listing;
    private boolean listedOnce;
    private boolean stopped;

    /**
     * Zones without nodes.
     *
     * @param keepTaints whether taints stay that are found at the start
     * @param lag how long after its verdict a node queues
     * @param nodes all known nodes
     * @param recheck receives nodes whose taints must be checked, except a node that is just being processed
     */
    public FairZones(
            ControllerConfig config,
            boolean keepTaints,
            Duration lag,
            Loop loop,
            Supplier<List<NodeHealth>> nodes,
            Consumer<NodeHealth> recheck,
            ControllerMetrics metrics,
            History history) {
        this.keepTaints = keepTaints;
        this.lag = lag;
        // The reference queues a node in the first pass that sees it not ready: between zero and one period after it
        // was added. One period lets a kubelet finish its start.
        this.joinGrace = config.nodeMonitorPeriod();
        this.loop = loop;
        this.nodes = nodes;
        this.recheck = recheck;
        this.metrics = metrics;
        this.history = history;
        this.disruption = new FairDisruption(config.zones(), keepTaints);
    }

    @Override
    public void listing() {
        listing = true;
    }

    @Override
    public void listed() {
        listing = false;
        listedOnce = true;
        settle(Optional.empty());
        zones.forEach((key, zone) -> drain(key, zone, Optional.empty()));
    }

    @Override
    public void seen(NodeHealth health, Node node) {
        if (stopped) {
            return;
        }
        FairMember member = member(health, node);
        if (member.strip && !member.node.tainted()) {
            member.strip = false;
        }
        if (!member.node.wants()) {
            unwant(health, member);
        }
        if (member.node.isReady()) {
            member.forgetPlace();
            member.joining = false;
        } else {
            FairQueue.Place place = member.place(health, node, now());
            if (member.node.wants()) {
                want(health, member, place);
            }
        }
        if (!listing) {
            settle(Optional.of(health));
            drain(member.node.zone(), zone(member.node.zone()), Optional.of(health));
        }
    }

    @Override
    public void gone(NodeHealth health) {
        FairMember member = members.remove(health);
        if (member != null) {
            leave(health, member);
            if (!listing && !stopped) {
                settle(Optional.empty());
            }
        }
    }

    /** Does nothing: {@link #seen} has processed the change. */
    @Override
    public void judged(NodeHealth health, Node node, String observedReady, String currentReady) {}

    @Override
    public void passEnded() {}

    @Override
    public NoExecute rule(NodeHealth health) {
        FairMember member = members.get(health);
        if (member == null) {
            return NoExecute.LEAVE;
        }
        if (stripAll || member.strip) {
            return NoExecute.STRIP;
        }
        return member.permit != null ? NoExecute.ADD : NoExecute.FOLLOW;
    }

    @Override
    public void settled(NodeHealth health, boolean tainted) {
        FairMember member = members.get(health);
        if (member != null && tainted) {
            withdraw(health, member);
            // It waits if its permit was withdrawn during the write.
            boolean queued = member.queued;
            unqueue(member);
            // If somebody removes the taint, other nodes are next.
            member.moveToEnd(now());
            if (queued) {
                queue(health, member);
            }
            metrics.tainted(member.node.zone());
        }
    }

    @Override
    public Optional<ZoneNode> node(NodeHealth health) {
        return Optional.ofNullable(members.get(health)).map(member -> member.node);
    }

    @Override
    public void stop() {
        stopped = true;
        zones.values().forEach(FairZones::cancel);
    }

    private FairMember member(NodeHealth health, Node node) {
        ZoneNode state = ZoneNode.of(node);
        FairMember known = members.get(health);
        if (known == null) {
            FairMember added = new FairMember(state);
            added.strip = !keepTaints;
            added.joining = listedOnce;
            members.put(health, added);
            enter(added);
            return added;
        }
        ZoneNode before = known.node;
        if (!state.zone().equals(before.zone())) {
            leave(health, known);
            known.node = state;
            enter(known);
        } else if (!state.equals(before)) {
            known.node = state;
            if (state.counted() != before.counted() || state.isReady() != before.isReady()) {
                count(before, -1);
                count(state, 1);
            }
        }
        return known;
    }

    private void enter(FairMember member) {
        zone(member.node.zone()).members++;
        count(member.node, 1);
    }

    private void leave(NodeHealth health, FairMember member) {
        unqueue(member);
        withdraw(health, member);
        count(member.node, -1);
        Zone left = zone(member.node.zone());
        left.members--;
        if (left.members == 0) {
            cancel(left);
            zones.remove(member.node.zone());
            metrics.zoneGone(member.node.zone());
        }
    }

    private void count(ZoneNode node, int by) {
        if (node.counted()) {
            disruption.count(node.zone(), node.isReady() ? by : 0, node.isReady() ? 0 : by);
        }
    }

    private Zone zone(String key) {
        return zones.computeIfAbsent(key, added -> new Zone(new FairQueue<>(disruption.rate(added), now())));
    }

    private void want(NodeHealth health, FairMember member, FairQueue.Place place) {
        if (member.permit != null || member.queued) {
            return;
        }
        long wait = place.since() + wait(member).toNanos() - now();
        if (wait <= 0) {
            queue(health, member);
        } else if (!member.waits) {
            member.waits = true;
            loop.schedule(Duration.ofNanos(wait), () -> waited(health, member));
        }
    }

    private Duration wait(FairMember member) {
        if (member.node.ready().equals(Condition.UNKNOWN)) {
            // Only a controller's own verdict was noticed late by the reference.
            return lag;
        }
        return member.joining ? joinGrace : Duration.ZERO;
    }

    private void waited(NodeHealth health, FairMember member) {
        member.waits = false;
        if (!stopped && members.get(health) == member && member.node.wants()) {
            member.place().ifPresent(place -> want(health, member, place));
            drain(member.node.zone(), zone(member.node.zone()), Optional.empty());
        }
    }

    private void unwant(NodeHealth health, FairMember member) {
        unqueue(member);
        if (member.permit != null) {
            if (!member.node.tainted()) {
                zone(member.node.zone()).queue.giveBack();
            }
            withdraw(health, member);
        }
    }

    private void unqueue(FairMember member) {
        if (member.queued) {
            member.queued = false;
            member.place().ifPresent(zone(member.node.zone()).queue::remove);
        }
    }

    /** Carries out the commands that follow from the counts; {@code current} is checked anyway. */
    private void settle(Optional<NodeHealth> current) {
        for (ZoneCommand command : disruption.step()) {
            switch (command) {
                case ZoneCommand.Counted counted -> counted(counted);
                case ZoneCommand.SetRate set -> {
                    if (zones.containsKey(set.zone())) {
                        rate(set.zone(), zone(set.zone()), current);
                    }
                }
                case ZoneCommand.Enter enter -> {
                    stripAll = enter.strip();
                    everything(
                            "AllZonesDown",
                            "all zones are fully disrupted: no node gets a NoExecute taint until one recovers"
                                    + (stripAll ? "; existing NoExecute taints are removed" : ""),
                            current);
                    if (stripAll) {
                        nodes.get().stream().filter(this::isTainted).forEach(health -> recheck(health, current));
                    }
                }
                case ZoneCommand.Exit() -> {
                    stripAll = false;
                    everything(
                            "ZonesBack",
                            "a zone has recovered from full disruption: nodes get NoExecute taints again",
                            current);
                }
            }
        }
    }

    private void counted(ZoneCommand.Counted counted) {
        Zone zone = zones.get(counted.zone());
        if (zone == null) {
            return;
        }
        metrics.zone(counted.zone(), counted.size(), counted.notReady());
        if (zone.state != counted.state()) {
            log.info(
                    "zone {} is now {}: {} of {} nodes are not ready (was {})",
                    ZoneKey.text(counted.zone()),
                    counted.state(),
                    counted.notReady(),
                    counted.size(),
                    zone.state);
            zone.state = counted.state();
        }
    }

    private void everything(String kind, String text, Optional<NodeHealth> current) {
        log.info("{}", text);
        history.add(new Decision(loop.clock().wallTime(), "", "", kind, text, JsonObject.EMPTY));
        zones.forEach((key, zone) -> rate(key, zone, current));
    }

    private void rate(String key, Zone zone, Optional<NodeHealth> current) {
        float before = zone.queue.rate();
        float rate = disruption.rate(key);
        zone.queue.rate(rate, now());
        if (rate <= 0) {
            new LinkedHashMap<>(zone.permits).forEach((health, member) -> {
                withdraw(health, member);
                queue(health, member);
                // Its write may not have begun.
                recheck(health, current);
            });
        }
        if (rate != before && !listing) {
            log.info("zone {}: {} nodes per second may get NoExecute taints", ZoneKey.text(key), rate);
            drain(key, zone, current);
        }
    }

    /** Releases nodes from the queue as the rate allows; {@code current} is checked anyway. */
    private void drain(String key, Zone zone, Optional<NodeHealth> current) {
        while (zone.hasPermit()) {
            Optional<NodeHealth> next = zone.queue.next(now());
            if (next.isEmpty()) {
                break;
            }
            NodeHealth health = next.get();
            FairMember member = members.get(health);
            if (member == null || !member.queued) {
                // It should have left the queue: the next one gets its token.
                zone.queue.giveBack();
                continue;
            }
            member.queued = false;
            zone.permits.put(health, member);
            member.permit = loop.schedule(PERMIT, () -> expired(health, member));
            log.debug(
                    "Node {} may get a NoExecute taint; {} more nodes of zone {} wait",
                    health.name(),
                    zone.queue.size(),
                    key);
            recheck(health, current);
        }
        drainLater(key, zone);
    }

    private void drainLater(String key, Zone zone) {
        cancel(zone);
        long at = zone.queue.nextAt(now());
        if (at != FairQueue.NEVER && zone.hasPermit() && !stopped) {
            zone.timer = loop.schedule(Duration.ofNanos(at - now()), () -> drain(key, zone, Optional.empty()));
        }
    }

    /** The node's writes have failed, or waited, for long: it waits behind the others. */
    private void expired(NodeHealth health, FairMember member) {
        withdraw(health, member);
        member.moveToEnd(now());
        if (member.node.wants() && !stopped) {
            queue(health, member);
            drainLater(member.node.zone(), zone(member.node.zone()));
            recheck.accept(health);
        }
    }

    private void withdraw(NodeHealth health, FairMember member) {
        Loop.Timer permit = member.permit;
        if (permit == null) {
            return;
        }
        permit.cancel();
        member.permit = null;
        String key = member.node.zone();
        Zone zone = zone(key);
        boolean waited = !zone.hasPermit();
        zone.permits.remove(health);
        if (waited) {
            drainLater(key, zone);
        }
    }

    private void queue(NodeHealth health, FairMember member) {
        member.place().ifPresent(place -> {
            member.queued = true;
            zone(member.node.zone()).queue.add(place, health);
        });
    }

    private boolean isTainted(NodeHealth health) {
        FairMember member = members.get(health);
        return member != null && member.node.tainted();
    }

    /** Has the taints of {@code health} checked, unless it is {@code current}. */
    private void recheck(NodeHealth health, Optional<NodeHealth> current) {
        if (current.filter(seen -> seen == health).isEmpty()) {
            recheck.accept(health);
        }
    }

    private static void cancel(Zone zone) {
        if (zone.timer != null) {
            zone.timer.cancel();
        }
    }

    private long now() {
        return loop.clock().nanoTime();
    }
}
