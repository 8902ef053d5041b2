package io.nodekeeper.cri;

import java.util.List;
import java.util.Optional;

/**
 * What the runtime says of itself.
 *
 * @param conditions as they came; {@code RuntimeReady} and {@code NetworkReady} are expected
 * @param handlers the runtime handlers it offers, as they came
 * @param supplementalGroupsPolicy whether it knows that policy; empty if it reports no features
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
