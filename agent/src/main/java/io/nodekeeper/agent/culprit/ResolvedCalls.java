package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.calls.OpenCall;
import io.nodekeeper.agent.calls.OverdueCall;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Overdue calls whose cause is resolved. A call stays in the tracker until it is repeated, perhaps much later; until
 * then it says nothing about the present. Not thread-safe.
 */
final class ResolvedCalls {
    /**
     * An open call must return within this time after its cause is gone; it equals the threshold after which a slow
     * call counts as hung ({@code slowCall}).
     */
    private static final Duration OPEN = Duration.ofSeconds(10);

    private record Excuse(int tries, long at) {}

    private final Map<RuntimeCall<?>, Excuse> excuses = new HashMap<>();

    /** Marks calls whose cause is resolved. */
    void excuse(List<OverdueCall> troubles, long now) {
        troubles.forEach(trouble -> excuses.put(trouble.call(), new Excuse(trouble.tries(), now)));
    }

    /** The calls that are still relevant. */
    List<OverdueCall> without(List<OverdueCall> troubles, List<OpenCall> open, long now) {
        Set<RuntimeCall<?>> asked = open.stream().map(OpenCall::call).collect(Collectors.toCollection(HashSet::new));
        excuses.keySet()
                .retainAll(troubles.stream().map(OverdueCall::call).collect(Collectors.toCollection(HashSet::new)));
        return troubles.stream()
                .filter(trouble -> {
                    Excuse excuse = excuses.get(trouble.call());
                    return excuse == null
                            || trouble.tries() > excuse.tries
                            || asked.contains(trouble.call()) && now - excuse.at >= OPEN.toNanos();
                })
                .toList();
    }
}
