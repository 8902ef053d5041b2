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
 * Questions that waited because of something that is over. A question stays in the ledger until somebody asks it again,
 * perhaps much later; till then it says nothing about now. Not thread-safe.
 */
final class ResolvedCalls {
    /** In which an open call must come back once its cause is gone. Chosen. */
    private static final Duration OPEN = Duration.ofSeconds(10);

    private record Excuse(int tries, long at) {}

    private final Map<RuntimeCall<?>, Excuse> excuses = new HashMap<>();

    /** What these waited for is over. */
    void excuse(List<OverdueCall> troubles, long now) {
        troubles.forEach(trouble -> excuses.put(trouble.call(), new Excuse(trouble.tries(), now)));
    }

    /** Those that still tell something. */
    List<OverdueCall> without(List<OverdueCall> troubles, List<OpenCall> open, long now) {
        Set<RuntimeCall<?>> asked = open.stream().map(OpenCall::call).collect(Collectors.toCollection(HashSet::new));
        excuses.keySet().retainAll(troubles.stream().map(OverdueCall::call).collect(Collectors.toCollection(HashSet::new)));
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
