package io.nodekeeper.agent.runtime;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The steps that must succeed once before the node is ready. Each step retries by itself, so none delays another or a
 * report; late steps are reported by name. Confined to its loop.
 */
final class StartupSteps {
    /**
     * A step takes milliseconds with a healthy runtime and seconds with a busy one; after 15 s, half of the 30 s
     * after which the runtime counts as down, it is reported as late.
     */
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final Clock clock;
    private final long startedAt;
    private final Instant since;
    /** The steps that are not done. */
    private final List<Step> steps = new ArrayList<>();

    private record Step(String name, CompletableFuture<Void> done) {}

    StartupSteps(Clock clock) {
        this.clock = clock;
        startedAt = clock.nanoTime();
        since = clock.wallTime();
    }

    /** Adds a step that is done once {@code question} was answered. */
    StartupSteps add(PolledCall<?> question) {
        return add(question.what(), question.known());
    }

    /** Adds a step that is done once {@code done} has completed. */
    StartupSteps add(String name, CompletableFuture<Void> done) {
        steps.add(new Step(name, done));
        return this;
    }

    /** One message for each late step; {@code culprit} is what hangs or is busy on this node, if known. */
    List<String> late(Supplier<Optional<String>> culprit) {
        steps.removeIf(step -> step.done().isDone());
        if (steps.isEmpty() || clock.nanoTime() - startedAt < PATIENCE.toNanos()) {
            return List.of();
        }
        String why = culprit.get().map(summary -> ": " + summary).orElse("");
        return steps.stream()
                .map(step ->
                        "start-up step \"" + step.name() + "\" has been waiting since " + KubeTime.format(since) + why)
                .toList();
    }
}
