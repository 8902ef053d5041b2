package io.nodekeeper.agent.runtime;

import io.nodekeeper.cri.RuntimeCondition;
import io.nodekeeper.cri.RuntimeStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What follows from the runtime's answers about itself, by Kubernetes' rule: no answer leaves everything as it was but for
 * its age, and after 30 s without a good one the runtime is down. Immutable.
 *
 * @param lastSync when it last said that it is ready, by the monotonic clock in ns
 * @param runtimeError why it is not ready, in its own words
 * @param networkError why pods get no network
 */
record RuntimeState(OptionalLong lastSync, Optional<String> runtimeError, Optional<String> networkError) {
    /** No status call has completed yet. */
    static final RuntimeState UNKNOWN =
            new RuntimeState(OptionalLong.empty(), Optional.empty(), Optional.of("network state unknown"));

    /** After this age the last good answer no longer counts (Kubernetes since 1.5). */
    static final Duration THRESHOLD = Duration.ofSeconds(30);

    /**
     * The state after an answer.
     *
     * @throws IllegalArgumentException if the answer lacks the RuntimeReady or NetworkReady condition
     */
    RuntimeState answered(RuntimeStatus status, long now) {
        if (status.conditions().size() < 2) {
            throw new IllegalArgumentException("RuntimeReady or NetworkReady condition are not set");
        }
        Optional<String> network =
                problem("container runtime network not ready", status, RuntimeCondition.NETWORK_READY);
        Optional<String> runtime = problem("container runtime not ready", status, RuntimeCondition.RUNTIME_READY);
        // A runtime that says it is not ready is not in sync either.
        return new RuntimeState(runtime.isPresent() ? lastSync : OptionalLong.of(now), runtime, network);
    }

    /** The reasons why the node is not ready; {@code pleg} is the PLEG's problem, if any. */
    List<String> runtimeErrors(long now, Optional<String> pleg) {
        List<String> errors = new ArrayList<>();
        if (lastSync.isEmpty()) {
            errors.add("container runtime status check may not have completed yet");
        } else if (now - lastSync.getAsLong() >= THRESHOLD.toNanos()) {
            errors.add("container runtime is down");
        }
        pleg.ifPresent(reason -> errors.add("PLEG is not healthy: " + reason));
        runtimeError.ifPresent(errors::add);
        return errors;
    }

    private static Optional<String> problem(String what, RuntimeStatus status, String type) {
        Optional<RuntimeCondition> condition = status.condition(type);
        if (condition.isEmpty()) {
            return Optional.of(what + ": <nil>");
        }
        RuntimeCondition said = condition.get();
        return said.status()
                ? Optional.empty()
                : Optional.of(what + ": " + type + "=false reason:" + said.reason() + " message:" + said.message());
    }
}
