package io.nodekeeper.controller.duplicates;

import io.nodekeeper.api.Node;
import io.nodekeeper.controller.explain.Explanations;
import io.nodekeeper.controller.explain.NodeEvents;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.heartbeats.Versions;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.observer.Now;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the nodes whose status two machines write in turn ({@link MachineTrail}), as decisions, events and a metric. No
 * verdict depends on it. Confined to the loop.
 */
public final class Duplicates {
    private static final Logger log = LoggerFactory.getLogger(Duplicates.class);

    private final Explanations explanations;
    private final NodeEvents events;
    private final ControllerMetrics metrics;
    private final Now now;
    /** One small entry for each node that has reported; it ends with the node. */
    private final Map<NodeHealth, MachineTrail> trails = new IdentityHashMap<>();
    /** The proof for each node that was reported as one of two machines; a subset of {@link #trails}. */
    private final Map<NodeHealth, Alternation> reported = new IdentityHashMap<>();

    /** {@code now} is the controller's monotonic time. */
    public Duplicates(Explanations explanations, NodeEvents events, ControllerMetrics metrics, Now now) {
        this.explanations = explanations;
        this.events = events;
        this.metrics = metrics;
        this.now = now;
    }

    /** A state of the node was seen. */
    public void seen(NodeHealth health, Node node) {
        Optional<Machine> machine = Machine.of(node);
        if (machine.isPresent()) {
            MachineTrail trail = trails.computeIfAbsent(health, added -> new MachineTrail());
            trail.saw(machine.get(), Versions.number(node.resourceVersion()), now.nanos());
            report(health, trail);
        }
    }

    /** The node object is gone. */
    public void gone(NodeHealth health) {
        trails.remove(health);
        if (reported.remove(health) != null) {
            metrics.duplicates(reported.size());
        }
    }

    /** Ends what is over; called periodically. */
    public void tend() {
        long at = now.nanos();
        trails.forEach((health, trail) -> {
            trail.end(at);
            report(health, trail);
        });
    }

    /** The sentence that says which machines report under the node's name; empty unless two do. */
    public Optional<String> text(NodeHealth health) {
        return Optional.ofNullable(reported.get(health)).map(Alternation::text);
    }

    /** The number of nodes that are followed. */
    public int size() {
        return trails.size();
    }

    private void report(NodeHealth health, MachineTrail trail) {
        Optional<Alternation> found = trail.found();
        Alternation before = reported.get(health);
        if (found.isPresent()) {
            reported.put(health, found.get());
            if (before == null || before.kind() != found.get().kind()) {
                log.warn("Node {}: {}", health.name(), found.get().text());
                explanations.duplicate(health, found.get().text(), found.get().json());
                events.duplicate(health.name(), health.uid(), found.get().text());
            }
        } else if (before != null) {
            reported.remove(health);
            String text = "no two machines have taken turns for " + MachineTrail.CALM.toMinutes()
                    + " minutes; one machine reports under this node's name";
            log.info("Node {}: {}", health.name(), text);
            explanations.duplicateEnded(health, text);
            events.duplicateEnded(health.name(), health.uid(), text);
        }
        if ((before == null) != found.isEmpty()) {
            metrics.duplicates(reported.size());
        }
    }
}
