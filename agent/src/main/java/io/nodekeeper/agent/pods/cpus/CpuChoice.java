package io.nodekeeper.agent.pods.cpus;

import io.nodekeeper.agent.facts.CpuSet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Which processors a container gets, as a kubelet packs them: whole sockets, then whole cores, then single threads; and each time
 * those of the sockets and cores first that have the fewest free ones. Pure.
 */
final class CpuChoice {
    private final CpuTopology topology;
    private final Set<Integer> free;
    private final Set<Integer> taken = new HashSet<>();
    private int missing;

    private CpuChoice(CpuTopology topology, CpuSet available, int count) {
        this.topology = topology;
        free = new TreeSet<>(available.ids());
        missing = count;
    }

    /**
     * {@code count} of the processors {@code available}.
     *
     * @throws CpuException if there are too few
     */
    static CpuSet take(CpuTopology topology, CpuSet available, int count) {
        if (available.size() < count) {
            throw new CpuException("not enough cpus available to satisfy request: requested=" + count + ", available="
                    + available.size());
        }
        CpuChoice choice = new CpuChoice(topology, available, count);
        choice.takeWhole(CpuTopology.Place::socket);
        choice.takeWhole(Function.identity());
        choice.takeThreads();
        return CpuSet.of(choice.taken);
    }

    /** Takes groups of processors, such as cores, that are free as a whole and not too large. */
    private <K> void takeWhole(Function<CpuTopology.Place, K> group) {
        Map<K, List<Integer>> groups = new LinkedHashMap<>();
        for (int id : sorted(topology.places().keySet())) {
            groups.computeIfAbsent(group.apply(place(id)), key -> new ArrayList<>())
                    .add(id);
        }
        for (List<Integer> ids : groups.values()) {
            if (free.containsAll(ids) && ids.size() <= missing) {
                ids.forEach(this::take);
            }
        }
    }

    private void takeThreads() {
        for (int id : sorted(free)) {
            if (missing > 0) {
                take(id);
            }
        }
    }

    private void take(int id) {
        free.remove(id);
        taken.add(id);
        missing--;
    }

    private CpuTopology.Place place(int id) {
        CpuTopology.Place place = topology.places().get(id);
        if (place == null) {
            throw new IllegalArgumentException("processor " + id + " is not online; expected one of " + topology.all());
        }
        return place;
    }

    /** By the number of free processors of the socket, then of the core; then by their numbers. */
    private List<Integer> sorted(Set<Integer> ids) {
        Map<Integer, Integer> sockets = new TreeMap<>();
        Map<CpuTopology.Place, Integer> cores = new HashMap<>();
        for (int id : free) {
            sockets.merge(place(id).socket(), 1, Integer::sum);
            cores.merge(place(id), 1, Integer::sum);
        }
        return ids.stream()
                .sorted(Comparator.comparing(
                                (Integer id) -> sockets.getOrDefault(place(id).socket(), 0))
                        .thenComparing(id -> place(id).socket())
                        .thenComparing(id -> cores.getOrDefault(place(id), 0))
                        .thenComparing(id -> place(id).core())
                        .thenComparing(id -> id))
                .toList();
    }
}
