package io.nodekeeper.agent;

import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.RuntimeHandler;
import java.util.List;
import java.util.Optional;

/**
 * What a node's status tells of its runtime. Immutable.
 *
 * @param version as in {@code containerd://1.6.20}
 * @param images as the runtime listed them last, in any order; empty if there is no list
 * @param handlers in any order
 * @param supplementalGroupsPolicy empty if the runtime reports no features
 */
public record RuntimeFacts(
        String version,
        Optional<List<Image>> images,
        List<RuntimeHandler> handlers,
        Optional<Boolean> supplementalGroupsPolicy) {
    /** No runtime. */
    public static final RuntimeFacts NONE = new RuntimeFacts("none", Optional.empty(), List.of(), Optional.empty());
}
