package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.agent.pods.model.ContainerHealth;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A pod with its worker's loop: observe, decide, remove what is of no use, carry out the commands. Time is the test's. */
final class PodFixture {
    static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    final SimulatedPod runtime = new SimulatedPod();
    final List<PodCommand> done = new ArrayList<>();
    final List<PodCommand> removed = new ArrayList<>();
    final List<Decision.Event> events = new ArrayList<>();
    Wanted wanted;
    PodMemory memory = PodMemory.EMPTY;
    Map<String, ContainerHealth> health = Map.of();
    Instant now = START;
    Optional<String> networkError = Optional.empty();

    PodFixture(Pod pod) {
        wanted = Wanted.ofApi(pod);
    }

    /** The pod {@code shop/web} with containers {@code app} and {@code log}. */
    static Pod pod(String restartPolicy, String image, String more) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"%s},
                 "spec": {"restartPolicy": "%s", "terminationGracePeriodSeconds": 30,
                  "containers": [{"name": "app", "image": "%s"}, {"name": "log", "image": "log:1"}]}}
                """.formatted(more, restartPolicy, image)));
    }

    static Pod pod(String restartPolicy) {
        return pod(restartPolicy, "app:1", "");
    }

    Decision decide() {
        Decision decision = PodSync.step(wanted, runtime.status(), memory, health, networkError, now);
        memory = decision.memory();
        events.addAll(decision.events());
        return decision;
    }

    /** Decides and carries out until nothing is to be done now; returns the last decision. */
    Decision settle() {
        for (int round = 0; round < 50; round++) {
            Decision decision = decide();
            if (decision.commands().isEmpty() && decision.removal().isEmpty()) {
                return decision;
            }
            remove(decision);
            for (PodCommand command : decision.commands()) {
                done.add(command);
                Outcome outcome = runtime.apply(command, now);
                memory = memory.after(command, outcome, now);
                if (!(outcome instanceof Outcome.Done)) {
                    break;
                }
            }
        }
        throw new AssertionError("the pod does not settle: " + done.subList(done.size() - 10, done.size()));
    }

    /** Removes what goes next beside the commands; whether there is anything. */
    boolean remove(Decision decision) {
        decision.removal().ifPresent(command -> {
            removed.add(command);
            memory = memory.afterRemoval(command, runtime.apply(command, now), now);
        });
        return decision.removal().isPresent();
    }

    /** Time passes in steps of a second. */
    Decision after(Duration time) {
        Decision last = settle();
        for (long second = 0; second < time.toSeconds(); second++) {
            now = now.plusSeconds(1);
            last = settle();
        }
        return last;
    }
}
