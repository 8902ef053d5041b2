package io.nodekeeper.controller.reference;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.taints.NoExecute;
import io.nodekeeper.controller.zones.ZoneCommand;
import io.nodekeeper.controller.zones.ZoneKey;
import io.nodekeeper.controller.zones.ZoneNode;
import io.nodekeeper.controller.zones.Zones;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Zones that behave exactly as Kubernetes': a pass over all nodes makes the decisions, and a tick each 100 ms taints
 * the nodes that the queues release. If the controller makes no passes for heartbeats, these zones make their own.
 */
public final class PassZones implements Zones {
    private static final Logger log = LoggerFactory.getLogger(PassZones.class);
    /** Kubernetes' period of the queues. */
    private static final Duration TICK = Duration.ofMillis(100);
    /** Kubernetes' wait for a node whose Ready condition is missing. */
    private static final Duration NO_CONDITION = Duration.ofMillis(50);

    /** The state of one node. */
    private static final class Member {
        private ZoneNode node;
        /** The rule for its taints. */
        private NoExecute rule = NoExecute.LEAVE;
        /** Whether it was evaluated before. */
        private boolean registered;
        /** Its Ready condition in the last pass; null before the first one. */
        private @Nullable String judgedReady;

        private Member(Node node) {
            this.node = ZoneNode.of(node);
        }

        /** Replaces the Ready condition of the last pass with {@code now}; returns the old one, or {@code now}. */
        private String judged(String now) {
            String before = judgedReady;
            judgedReady = now;
            return before == null ? now : before;
        }
    }

    private final ControllerConfig config;
    private final boolean keepTaints;
    private final boolean immediate;
    private final boolean ownPasses;
    private final Loop loop;
    private final RandomGenerator random;
    private final Consumer<NodeHealth> recheck;
    private final Runnable graces;
    private final ControllerMetrics metrics;
    private final PassDisruption disruption;
    private final Map<String, PassQueue<NodeHealth>> queues = new TreeMap<>();
    private final Map<String, PassDisruption.Count> counts = new TreeMap<>();
    /** One for each node. */
    private final Map<NodeHealth, Member> members = new LinkedHashMap<>();

    private @Nullable Periodic passes;
    private @Nullable Periodic ticks;
    private boolean stopped;

    /**
     * Zones without nodes.
     *
     * @param rules which parts of the reference's behaviour apply
     * @param recheck receives nodes whose taints must be checked
     * @param graces restarts the grace of every node; called when not all zones are down any more
     */
    public PassZones(
            ControllerConfig config,
            ReferenceRules rules,
            Loop loop,
            RandomGenerator random,
            Consumer<NodeHealth> recheck,
            Runnable graces,
            ControllerMetrics metrics) {
        this.config = config;
        this.keepTaints = rules.keepsTaints();
        this.immediate = rules.taintsAtOnce();
        this.ownPasses = !rules.monitorPass();
        this.loop = loop;
        this.random = random;
        this.recheck = recheck;
        this.graces = graces;
        this.metrics = metrics;
        this.disruption = new PassDisruption(config.zones());
    }

    @Override
    public void listing() {}

    @Override
    public void listed() {
        if (ticks != null || stopped) {
            return;
        }
        if (ownPasses) {
            passes = Periodic.start("zone pass", loop, config.nodeMonitorPeriod(), 0, random, this::pass);
        }
        ticks = Periodic.start("taint queues", loop, TICK, 0, random, this::tick);
    }

    /** Records the state that the next pass and the next tick use. */
    @Override
    public void seen(NodeHealth health, Node node) {
        members.computeIfAbsent(health, added -> new Member(node)).node = ZoneNode.of(node);
    }

    @Override
    public void gone(NodeHealth health) {
        Member member = members.get(health);
        if (member != null) {
            queue(member.node.zone()).remove(health);
            members.remove(health);
        }
    }

    @Override
    public void judged(NodeHealth health, Node node, String observedReady, String currentReady) {
        seen(health, node);
        Member member = members.get(health);
        if (member != null) {
            judge(health, member, immediate ? currentReady : observedReady, currentReady);
        }
    }

    @Override
    public void passEnded() {
        for (ZoneCommand command : disruption.step(counts)) {
            switch (command) {
                case ZoneCommand.Counted counted -> {
                    if (counted.size() == 0) {
                        metrics.zoneGone(counted.zone());
                    } else {
                        metrics.zone(counted.zone(), counted.size(), counted.notReady());
                    }
                    log.debug(
                            "zone {} is now {}: {} of {} nodes are not ready",
                            ZoneKey.text(counted.zone()),
                            counted.state(),
                            counted.notReady(),
                            counted.size());
                }
                case ZoneCommand.SetRate set -> queue(set.zone()).rate(set.rate(), now());
                case ZoneCommand.Enter enter -> {
                    log.info("all zones are fully disrupted: NoExecute taints are removed, and no node gets one"
                            + " until a zone recovers");
                    List.copyOf(members.keySet()).forEach(this::reachable);
                }
                case ZoneCommand.Exit() -> {
                    log.info("a zone has recovered from full disruption: the grace period of all nodes restarts");
                    graces.run();
                }
            }
        }
        counts.clear();
        dropUnusedQueues();
    }

    /** A node that comes to such a zone later gets a new queue in the reference, too, which never drops the old ones. */
    private void dropUnusedQueues() {
        Set<String> used =
                members.values().stream().map(member -> member.node.zone()).collect(Collectors.toSet());
        queues.entrySet()
                .removeIf(queue -> queue.getValue().size() == 0
                        && !used.contains(queue.getKey())
                        && !disruption.knows(queue.getKey()));
    }

    @Override
    public Map<String, Integer> sizes() {
        return Map.of("zone queues", queues.size());
    }

    @Override
    public NoExecute rule(NodeHealth health) {
        Member member = members.get(health);
        return member == null ? NoExecute.LEAVE : member.rule;
    }

    @Override
    public void settled(NodeHealth health, boolean tainted) {
        Member member = members.get(health);
        if (member != null) {
            // The decision of this pass is done; the next pass makes the next one.
            member.rule = NoExecute.LEAVE;
            if (tainted) {
                metrics.tainted(member.node.zone());
            }
        }
    }

    @Override
    public Optional<ZoneNode> node(NodeHealth health) {
        return Optional.ofNullable(members.get(health)).map(member -> member.node);
    }

    @Override
    public void stop() {
        stopped = true;
        if (passes != null) {
            passes.stop();
        }
        if (ticks != null) {
            ticks.stop();
        }
    }

    private CompletableFuture<Void> pass() {
        for (NodeHealth health : List.copyOf(members.keySet())) {
            Member member = members.get(health);
            if (member != null) {
                String before = member.judged(member.node.ready());
                // Only controllers write Unknown: for the reference, the node was not yet Unknown in this pass.
                boolean verdict = member.node.ready().equals(Condition.UNKNOWN);
                judge(health, member, verdict && !immediate ? before : member.node.ready(), member.node.ready());
            }
        }
        passEnded();
        return CompletableFuture.completedFuture(null);
    }

    private void judge(NodeHealth health, Member member, String decisive, String current) {
        if (disruption.add(member.node.zone())) {
            queues.put(member.node.zone(), new PassQueue<>(config.zones().nodeEvictionRate(), now()));
        }
        if (!member.registered) {
            member.registered = true;
            if (!keepTaints) {
                reachable(health);
            }
        }
        if (member.node.counted()) {
            PassDisruption.Count before = counts.getOrDefault(member.node.zone(), new PassDisruption.Count(0, 0));
            counts.put(member.node.zone(), before.plus(current.equals(Condition.TRUE)));
        }
        if (current.isEmpty()) {
            return;
        }
        switch (decisive) {
            case Condition.TRUE -> reachable(health);
            case Condition.FALSE ->
                notReady(health, member, member.node.notReadyTaint(), member.node.unreachableTaint());
            case Condition.UNKNOWN ->
                notReady(health, member, member.node.unreachableTaint(), member.node.notReadyTaint());
            default -> {}
        }
    }

    private void notReady(NodeHealth health, Member member, boolean right, boolean wrong) {
        if (wrong) {
            order(health, NoExecute.FOLLOW);
            return;
        }
        if (!right) {
            // The node can then be added again after its taint was removed; if it waits, it loses its place.
            queue(member.node.zone()).remove(health);
        }
        queue(member.node.zone()).add(health, now());
    }

    private void reachable(NodeHealth health) {
        Member member = members.get(health);
        if (member != null) {
            queue(member.node.zone()).remove(health);
            if (member.node.tainted()) {
                order(health, NoExecute.STRIP);
            } else if (member.rule == NoExecute.ADD) {
                member.rule = NoExecute.LEAVE;
            }
        }
    }

    private void order(NodeHealth health, NoExecute rule) {
        Member member = members.get(health);
        if (member != null) {
            member.rule = rule;
            recheck.accept(health);
        }
    }

    private CompletableFuture<Void> tick() {
        for (PassQueue<NodeHealth> queue : new ArrayList<>(queues.values())) {
            queue.run(now(), this::taint);
        }
        return CompletableFuture.completedFuture(null);
    }

    private OptionalLong taint(NodeHealth health) {
        Member member = members.get(health);
        if (member == null || member.node.isReady()) {
            return OptionalLong.empty();
        }
        if (member.node.ready().isEmpty()) {
            return OptionalLong.of(NO_CONDITION.toNanos());
        }
        order(health, NoExecute.ADD);
        return OptionalLong.empty();
    }

    /** The zone's queue, created if it does not exist. */
    private PassQueue<NodeHealth> queue(String zone) {
        return queues.computeIfAbsent(
                zone, added -> new PassQueue<>(config.zones().nodeEvictionRate(), now()));
    }

    private long now() {
        return loop.clock().nanoTime();
    }
}
