package io.nodekeeper.agent.facts;

import java.util.Collection;
import java.util.Collections;
import java.util.NavigableSet;
import java.util.TreeSet;

/** Processors by their numbers, written as the kernel and Kubernetes write them, such as {@code 0-3,7}. Immutable. */
public record CpuSet(NavigableSet<Integer> ids) {
    /** No processors. */
    public static final CpuSet EMPTY = new CpuSet(new TreeSet<>());
    /** The highest number that is accepted: more than Linux supports (8,192). */
    private static final int MOST = 65_535;

    /** Keeps a copy. */
    public CpuSet {
        ids = Collections.unmodifiableNavigableSet(new TreeSet<>(ids));
    }

    /** The processors with these numbers. */
    public static CpuSet of(Collection<Integer> ids) {
        return new CpuSet(new TreeSet<>(ids));
    }

    /**
     * Reads numbers and ranges.
     *
     * @throws IllegalArgumentException if {@code text} is something else
     */
    public static CpuSet parse(String text) {
        TreeSet<Integer> ids = new TreeSet<>();
        if (text.isBlank()) {
            return EMPTY;
        }
        for (String part : text.strip().split(",", -1)) {
            if (!part.matches("\\d{1,5}(-\\d{1,5})?")) {
                throw new IllegalArgumentException("expected processors such as 0-3,7, got \"" + text + "\"");
            }
            String[] ends = part.split("-", -1);
            int first = Integer.parseInt(ends[0]);
            int last = Integer.parseInt(ends[ends.length - 1]);
            if (first > last || last > MOST) {
                throw new IllegalArgumentException(
                        "expected rising numbers of processors up to " + MOST + ", got \"" + text + "\"");
            }
            for (int id = first; id <= last; id++) {
                ids.add(id);
            }
        }
        return new CpuSet(ids);
    }

    /** How many there are. */
    public int size() {
        return ids.size();
    }

    /** Whether there are none. */
    public boolean isEmpty() {
        return ids.isEmpty();
    }

    /** The processors of both sets. */
    public CpuSet plus(CpuSet other) {
        TreeSet<Integer> all = new TreeSet<>(ids);
        all.addAll(other.ids);
        return new CpuSet(all);
    }

    /** The processors that are not in {@code other}. */
    public CpuSet minus(CpuSet other) {
        TreeSet<Integer> left = new TreeSet<>(ids);
        left.removeAll(other.ids);
        return new CpuSet(left);
    }

    /** Whether all of {@code other} are in it. */
    public boolean containsAll(CpuSet other) {
        return ids.containsAll(other.ids);
    }

    /** Whether some are in both. */
    public boolean overlaps(CpuSet other) {
        return !Collections.disjoint(ids, other.ids);
    }

    /** Numbers and ranges; empty for no processors. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        int first = -1;
        for (int id : ids) {
            if (first < 0 || !ids.contains(id - 1)) {
                first = id;
            }
            if (!ids.contains(id + 1)) {
                text.append(text.isEmpty() ? "" : ",").append(first);
                text.append(first == id ? "" : "-" + id);
            }
        }
        return text.toString();
    }
}
