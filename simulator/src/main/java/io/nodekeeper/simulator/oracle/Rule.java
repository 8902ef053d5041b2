package io.nodekeeper.simulator.oracle;

/** The rules that must hold in every run, whatever faults occur. */
public enum Rule {
    /** No node becomes Unknown that renewed within its grace, or that was silent because of the API server. */
    FALSE_VERDICT("false", "verdicts against nodes that were not silent for their grace"),
    /** A node that is silent for its grace, plus the time in which the control plane was disturbed, becomes Unknown. */
    LATE_VERDICT("late", "nodes that were silent for longer than their grace and not Unknown in time"),
    /** A node that recovers is Ready one status period later. */
    NOT_RETURNED("notReturned", "nodes that were not Ready one status period after their return"),
    /** Taints follow conditions within a second, unless the node is damped for flapping. */
    TAINTS_LATE("taintsLate", "taints that did not follow the conditions within 1s"),
    /** Only a node that is not Ready gets a NoExecute taint. */
    NO_EXECUTE_WRONG("noExecuteWrong", "NoExecute taints given to Ready nodes"),
    /** NoExecute taints are added at most at the zone's rate. */
    NO_EXECUTE_FAST("noExecuteFast", "NoExecute taints beyond the zone's rate"),
    /** While nodes of an undisrupted zone wait for a NoExecute taint, taints are added at least at the zone's rate. */
    NO_EXECUTE_LATE("noExecuteLate", "nodes that waited for a NoExecute taint although it was their turn"),
    /** No pod is evicted before its toleration of a taint has ended. */
    EVICTED_EARLY("evictedEarly", "pods evicted before their toleration ended"),
    /** No pod is evicted from a node that has no taint which the pod does not tolerate. */
    EVICTED_WRONGLY("evictedWrongly", "pods deleted from nodes that were back"),
    /** A pod whose toleration has ended is evicted within the bound. */
    EVICTED_LATE("evictedLate", "pods not evicted in time"),
    /** A pod of a node that no longer exists stays for at least 40 s. */
    COLLECTED_EARLY("collectedEarly", "pods of deleted nodes that were collected too early"),
    /** A pod of a node that no longer exists is deleted within the bound. */
    COLLECTED_LATE("collectedLate", "pods of deleted nodes that were not collected in time"),
    /** Only the holder of the lock writes. */
    SECOND_LEADER("secondLeader", "writes of a controller that was not the leader");

    private final String key;
    private final String meaning;

    Rule(String key, String meaning) {
        this.key = key;
        this.meaning = meaning;
    }

    /** Its name in JSON reports. */
    public String key() {
        return key;
    }

    /** What its violations are, for reports. */
    public String meaning() {
        return meaning;
    }
}
