package io.nodekeeper.simulator.oracle;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The oracle's counts. Confined to virtual time. */
public final class Tally {
    private final Map<Rule, Long> violations = new EnumMap<>(Rule.class);
    /** One entry for each verdict of an undisturbed control plane. */
    private final List<Long> delays = new ArrayList<>();

    private long renewals;
    private long verdicts;
    private long silences;
    private long evictions;
    private long collections;
    private long noExecutes;
    private long recreations;

    void violated(Rule rule) {
        violations.merge(rule, 1L, Long::sum);
    }

    void renewed() {
        renewals++;
    }

    void judged() {
        verdicts++;
    }

    void silent() {
        silences++;
    }

    void evicted() {
        evictions++;
    }

    void collected() {
        collections++;
    }

    void noExecute() {
        noExecutes++;
    }

    void recreated() {
        recreations++;
    }

    void delayed(long nanos) {
        delays.add(nanos);
    }

    /** How often {@code rule} was broken. */
    public long of(Rule rule) {
        return violations.getOrDefault(rule, 0L);
    }

    /** How often any rule was broken. */
    public long violations() {
        return violations.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Renewals of leases that the store accepted. */
    public long renewals() {
        return renewals;
    }

    /** Nodes declared Unknown. */
    public long verdicts() {
        return verdicts;
    }

    /** Silences that lasted for the grace and for all disturbances of the control plane: each must end in a verdict. */
    public long silences() {
        return silences;
    }

    /** Pods deleted because of a NoExecute taint. */
    public long evictions() {
        return evictions;
    }

    /** Pods deleted because their node no longer existed. */
    public long collections() {
        return collections;
    }

    /** NoExecute taints given to nodes that had none. */
    public long noExecutes() {
        return noExecutes;
    }

    /** Nodes created under the name of one that was deleted. */
    public long recreations() {
        return recreations;
    }

    /**
     * How long after its grace each node was declared Unknown, nanoseconds; without verdicts that a disturbance
     * delayed.
     */
    public List<Long> delays() {
        return List.copyOf(delays);
    }
}
