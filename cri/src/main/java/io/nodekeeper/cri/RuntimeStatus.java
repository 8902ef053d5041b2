package io.nodekeeper.cri;

import java.util.List;
import java.util.Optional;

/**
 * The status that the runtime reports about itself.
 *
 * @param conditions in the runtime's order; {@code RuntimeReady} and {@code NetworkReady} are expected
 * @param handlers the runtime handlers that it offers, in its order
 * @param supplementalGroupsPolicy whether it supports that policy; empty if it reports no features
 */
public record RuntimeStatus(
        List<RuntimeCondition> conditions, List<RuntimeHandler> handlers, Optional<Boolean> supplementalGroupsPolicy) {

    /** The condition of that type. */
    public Optional<RuntimeCondition> condition(String type) {
        return conditions.stream()
                .filter(condition -> condition.type().equals(type))
                .findFirst();
    }
}
