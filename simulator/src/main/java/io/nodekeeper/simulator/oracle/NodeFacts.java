package io.nodekeeper.simulator.oracle;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Taint;
import io.nodekeeper.controller.FlapDampingConfig;
import java.util.List;

/** What is known of a node: what was done to it, and what the API shows. Confined to virtual time. */
final class NodeFacts {
    static final long NEVER = Long.MIN_VALUE;

    final String name;
    final FlapModel flaps;

    /** Whether the Node object is there. */
    boolean known;

    String uid = "";
    String ready = "";
    String heartbeat = "";
    String renewTime = "";
    List<Taint> taints = List.of();
    /** Since when there has been no Node object of that name. */
    long goneAt = NEVER;

    /** The last sign of life that was stored. */
    long heardAt;
    /** Whether the present silence was counted as one that has to end in a verdict. */
    boolean counted;
    /** The check that is scheduled of its silence; 0 if none is. */
    long armed;

    /** Whether something is wrong with its machine, process or cable. */
    boolean faulty;

    long faultySince;
    /** For how long it was faulty since it was last heard, in spells that are over. */
    long faultyFor;
    /** When it was well again, if it is; with a Node object that was deleted since, the time of the deletion. */
    long returnedAt = NEVER;

    /** Counts what is expected to make it Ready again, so that an older check lapses. */
    long returns;

    long wrongTaintsSince = NEVER;
    /** Since when it has been without a break not Ready. */
    long notReadySince = NEVER;

    /** Since when it has had one of the two NoExecute taints of nodes that are not Ready. */
    long noExecuteSince = NEVER;
    /** When its NoExecute taints changed last. */
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

    /** A Node object with another UID: nothing of the one before counts. */
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
