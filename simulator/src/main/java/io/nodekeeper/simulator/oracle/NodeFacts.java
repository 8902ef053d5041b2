package io.nodekeeper.simulator.oracle;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import io.nodekeeper.controller.config.FlapDampingConfig;
import java.util.List;

/** The facts about a node: its faults, and what the API shows. Confined to virtual time. */
final class NodeFacts {
    static final long NEVER = Long.MIN_VALUE;

    final String name;
    final FlapModel flaps;

    /** Whether the Node object exists. */
    boolean known;

    String uid = "";
    String ready = "";
    String heartbeat = "";
    String renewTime = "";
    List<Taint> taints = List.of();
    /** Since when there has been no Node object of that name. */
    long goneAt = NEVER;

    /** The last heartbeat that was stored. */
    long heardAt;
    /** Whether the current silence was counted as one that has to end in a verdict. */
    boolean counted;
    /** The number of its scheduled check for silence; 0 if there is none. */
    long armed;

    /** Whether its machine, process or cable has a fault. */
    boolean faulty;

    long faultySince;
    /** How long it was faulty since its last heartbeat, in faults that are over. */
    long faultyFor;
    /** When it recovered, if it did; if its Node object was deleted since, the time of the deletion. */
    long returnedAt = NEVER;

    /** Counts changes after which it is expected to become Ready, so that older checks expire. */
    long returns;

    long wrongTaintsSince = NEVER;
    /** The time since when it has been not Ready without a break. */
    long notReadySince = NEVER;

    /** The time since when it has had one of the two NoExecute taints of nodes that are not Ready. */
    long noExecuteSince = NEVER;
    /** When its NoExecute taints last changed. */
    long noExecuteChangedAt = NEVER;

    NodeFacts(String name, FlapDampingConfig config) {
        this.name = name;
        this.flaps = new FlapModel(config);
    }

    boolean isUnknown() {
        return ready.equals(Condition.UNKNOWN);
    }

    boolean isReady() {
        return ready.equals(Condition.TRUE);
    }

    boolean has(String key, String effect) {
        return taints.stream()
                .anyMatch(taint -> taint.key().equals(key) && taint.effect().equals(effect));
    }

    boolean hasNoExecute() {
        return has(Taint.UNREACHABLE, Taint.NO_EXECUTE) || has(Taint.NOT_READY, Taint.NO_EXECUTE);
    }

    /** All taints as the trace shows them. */
    String taintsText() {
        return text(taints);
    }

    static String text(List<Taint> taints) {
        return String.join(
                " ",
                taints.stream()
                        .map(taint -> taint.key().substring(taint.key().indexOf('/') + 1) + ":" + taint.effect())
                        .toList());
    }

    /** Resets the facts for a Node object with another UID. */
    void created(Node node, long now) {
        known = true;
        uid = node.uid();
        ready = "";
        heartbeat = "";
        taints = List.of();
        wrongTaintsSince = NEVER;
        notReadySince = NEVER;
        noExecuteSince = NEVER;
        noExecuteChangedAt = now;
        goneAt = NEVER;
    }
}
