package io.nodekeeper.agent.culprit.evidence;

import io.nodekeeper.cri.RuntimeCall;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Who waits for whom. A root waits for nothing, so it is the cause of what waits for it. Circles do not matter, except
 * where everything that can be reached is part of one: then the last entity on the way stands for the circle. Not
 * thread-safe.
 */
public final class WaitGraph {
    /** Something that waits, or for which others wait. Immutable. */
    public sealed interface Entity {
        /** A call to the runtime. */
        record Call(RuntimeCall<?> call) implements Entity {}

        /** A process, with all its threads. */
        record Pid(int pid) implements Entity {}

        /** A process that traces another. */
        record Tracer(int pid) implements Entity {}

        /** A frozen cgroup. */
        record Freezer(String cgroup, int version) implements Entity {}

        /** A lock on a file. */
        record FileLock(String file) implements Entity {}

        /** A pipe or FIFO. */
        record Pipe(String name) implements Entity {}

        /** A client's socket; {@code peer} is the path of its server, empty if that is not known. */
        record Socket(String name, String peer) implements Entity {}

        /** A mounted file system. */
        record MountPoint(String point) implements Entity {}
    }

    /**
     * A step from what waits to what it waits for.
     *
     * @param fact whether the kernel or the runtime reports it; else it is an assumption
     * @param text the step as a sentence, for the evidence
     */
    public record Edge(Entity from, Entity to, boolean fact, String text) {}

    /** The way from a start to a root, with as few assumptions as possible. */
    public record Chain(Entity start, List<Edge> steps, Entity root, boolean circular) {
        /** How sure it is: each assumption lowers it by one degree. */
        public Confidence confidence() {
            long assumptions = steps.stream().filter(step -> !step.fact()).count();
            return assumptions == 0 ? Confidence.CERTAIN : assumptions == 1 ? Confidence.LIKELY : Confidence.UNKNOWN;
        }

        /** The steps as sentences. */
        public List<String> texts() {
            return steps.stream().map(Edge::text).distinct().toList();
        }
    }

    private final Map<Entity, Set<Edge>> edges = new LinkedHashMap<>();

    /** Adds a step; one from an entity to itself says nothing. */
    public void add(Entity from, Entity to, boolean fact, String text) {
        if (!from.equals(to)) {
            edges.computeIfAbsent(from, key -> new LinkedHashSet<>()).add(new Edge(from, to, fact, text));
        }
    }

    /** Whether it waits for anything. */
    public boolean waits(Entity entity) {
        return edges.containsKey(entity);
    }

    /** Whether it waits for {@code other} at first hand. */
    public boolean waits(Entity entity, Entity other) {
        return edges.getOrDefault(entity, Set.of()).stream()
                .anyMatch(edge -> edge.to().equals(other));
    }

    /** The roots that can be reached from {@code start}, the surest first; {@code start} itself if it waits for nothing. */
    public List<Chain> roots(Entity start) {
        Map<Entity, Integer> assumptions = new HashMap<>(Map.of(start, 0));
        Map<Entity, Edge> reachedBy = new HashMap<>();
        Set<Entity> settled = new LinkedHashSet<>();
        Deque<Entity> open = new ArrayDeque<>(List.of(start));
        while (!open.isEmpty()) {
            Entity at = open.pollFirst();
            if (!settled.add(at)) {
                continue;
            }
            for (Edge edge : edges.getOrDefault(at, Set.of())) {
                int cost = assumptions.getOrDefault(at, 0) + (edge.fact() ? 0 : 1);
                if (cost < assumptions.getOrDefault(edge.to(), Integer.MAX_VALUE)) {
                    assumptions.put(edge.to(), cost);
                    reachedBy.put(edge.to(), edge);
                    if (edge.fact()) {
                        open.addFirst(edge.to());
                    } else {
                        open.addLast(edge.to());
                    }
                }
            }
        }
        List<Entity> roots = settled.stream().filter(entity -> !waits(entity)).toList();
        boolean circular = roots.isEmpty();
        return (circular ? List.of(new ArrayList<>(settled).getLast()) : roots)
                .stream()
                        .map(root -> new Chain(start, way(start, root, reachedBy), root, circular))
                        .toList();
    }

    private static List<Edge> way(Entity start, Entity root, Map<Entity, Edge> reachedBy) {
        List<Edge> steps = new ArrayList<>();
        for (Entity at = root; !at.equals(start); at = steps.getFirst().from()) {
            steps.addFirst(reachedBy.get(at));
        }
        return List.copyOf(steps);
    }
}
