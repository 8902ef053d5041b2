package io.nodekeeper.agent.runtime;

import io.nodekeeper.cri.RuntimeCondition;
import io.nodekeeper.cri.RuntimeStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The state of the runtime according to its status calls, by Kubernetes' rule: without an answer the state stays as it was
 * and only its age grows, and after 30 s without a good answer the runtime is down. Immutable.
 *
 * @param lastSync when the runtime last reported that it is ready, by the monotonic clock in ns
 * @param runtimeError why it is not ready, as it reported
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
        // A runtime that reports that it is not ready does not count as seen.
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
