package io.nodekeeper.agent.facts;

import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.RuntimeHandler;
import java.util.List;
import java.util.Optional;

/**
 * The facts about the container runtime that a node's status contains. Immutable.
 *
 * @param version as in {@code containerd://1.6.20}; {@code none} where there is no runtime
 * @param images as the runtime last listed them, in any order
 * @param handlers in any order
 * @param supplementalGroupsPolicy empty if the runtime reports no features
 */
public record RuntimeFacts(
        String version,
        Fact<List<Image>> images,
        List<RuntimeHandler> handlers,
        Optional<Boolean> supplementalGroupsPolicy) {
    /** No runtime. */
    public static final RuntimeFacts NONE = new RuntimeFacts("none", Fact.unknown(), List.of(), Optional.empty());

    /** Whether there is a runtime at all. */
    public boolean present() {
        return !version.equals(NONE.version);
    }
}
