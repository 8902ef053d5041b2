package io.nodekeeper.agent.pods.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * Random lives of a pod: containers end, sandboxes die, images change, calls fail with and without effect, answers come late,
 * and the agent loses its memory. Half of the pods have a sidecar and an init container, which must have ended in the sandbox in
 * which a main container starts. A second container of one name never starts (the runtime checks that), and once faults
 * end the pod becomes what is wanted.
 */
class PodSyncPropertiesTest {
    private static final String INIT = "[{\"name\": \"proxy\", \"image\": \"p:1\", \"restartPolicy\": \"Always\"},"
            + " {\"name\": \"setup\", \"image\": \"s:1\"}]";
    private static final String DELETED = ", \"deletionTimestamp\": \"2026-01-01T00:00:30Z\"";

    @Property(tries = 400)
    void everyPodBecomesWhatIsWantedOnceFaultsEnd(@ForAll long seed) {
        Life life = new Life(seed);
        for (int step = 0; step < 150; step++) {
            life.step();
        }

        life.calm();

        life.check();
    }

    /** One random life. */
    private static final class Life {
        private static final List<String> POLICIES = List.of("Always", "OnFailure", "Never");

        private final SplittableRandom random;
        private final PodFixture pod;
        private final String policy;
        private final boolean withInit;
        /** Effects that come after their answer was given up. */
        private final List<PodCommand> late = new ArrayList<>();

        private String image = "app:1";
        private boolean deleted;

        private Life(long seed) {
            random = new SplittableRandom(seed);
            policy = POLICIES.get(random.nextInt(3));
            withInit = random.nextBoolean();
            pod = new PodFixture(made(""));
        }

        private Pod made(String more) {
            Pod plain = PodFixture.pod(policy, image, more);
            return withInit
                    ? new Pod(plain.json()
                            .update(
                                    "spec",
                                    spec -> spec.with(
                                            "initContainers",
                                            Json.parseObject("{\"list\": " + INIT + "}")
                                                    .array("list"))))
                    : plain;
        }

        private void step() {
            pod.now = pod.now.plusMillis(random.nextInt(3_000));
            // Init containers end sooner or later.
            if (random.nextInt(4) == 0) {
                pod.runtime.exitRunning("setup", random.nextInt(4) == 0 ? 1 : 0, pod.now);
            }
            switch (random.nextInt(15)) {
                case 8 -> pod.runtime.exitRunning("proxy", random.nextInt(2), pod.now);
                case 0 -> pod.runtime.exitRunning("app", random.nextInt(2), pod.now);
                case 1 -> pod.runtime.exitRunning("log", random.nextInt(2), pod.now);
                case 2 -> pod.memory = PodMemory.EMPTY;
                case 3 -> update();
                case 4 -> pod.networkError = random.nextBoolean() ? Optional.empty() : Optional.of("no network");
                case 5 -> {
                    if (random.nextInt(4) == 0) {
                        pod.runtime.sandboxDies(pod.now);
                    }
                }
                case 6 -> late.forEach(command -> pod.runtime.apply(command, pod.now));
                case 7 -> {
                    if (random.nextBoolean()) {
                        pod.runtime.missing(image);
                    } else {
                        pod.runtime.available(image);
                    }
                }
                default -> work();
            }
            if (random.nextInt(200) == 0) {
                delete();
            }
        }

        private void update() {
            if (!deleted) {
                image = "app:" + random.nextInt(3);
                pod.wanted = Wanted.ofApi(made(""));
            }
        }

        private void delete() {
            deleted = true;
            Pod marked = made(DELETED);
            pod.wanted = Wanted.ofApi(marked);
        }

        private void work() {
            Decision decision = pod.decide();
            decision.removal().ifPresent(command -> {
                pod.memory = pod.memory.afterRemoval(command, outcome(command), pod.now);
            });
            for (PodCommand command : decision.commands()) {
                if (random.nextInt(100) < 5) {
                    // The agent is killed in the middle of a start.
                    if (command instanceof PodCommand.StartContainer start) {
                        pod.runtime.createOnly(start);
                    }
                    pod.memory = PodMemory.EMPTY;
                    return;
                }
                Outcome outcome = outcome(command);
                pod.memory = pod.memory.after(command, outcome, pod.now);
                if (!(outcome instanceof Outcome.Done)) {
                    return;
                }
            }
        }

        private Outcome outcome(PodCommand command) {
            Outcome.Failed failed = new Outcome.Failed(Reasons.CREATE_CONTAINER_ERROR, "fault");
            return switch (random.nextInt(8)) {
                case 0 -> failed;
                case 1 -> {
                    // The answer is lost, the effect is not.
                    pod.runtime.apply(command, pod.now);
                    yield failed;
                }
                case 2 -> {
                    if (command instanceof PodCommand.CreateSandbox || command instanceof PodCommand.KillContainers) {
                        late.add(command);
                    }
                    yield failed;
                }
                default -> pod.runtime.apply(command, pod.now);
            };
        }

        /** Faults end, and some time passes: longer than the longest pause. */
        private void calm() {
            late.clear();
            pod.networkError = Optional.empty();
            pod.runtime.available("app:0");
            pod.runtime.available("app:1");
            pod.runtime.available("app:2");
            for (int minute = 0; minute < 14; minute++) {
                pod.after(Duration.ofMinutes(1));
                pod.runtime.exitRunning("setup", 0, pod.now);
            }
            pod.after(Duration.ofMinutes(1));
        }

        private void check() {
            if (deleted) {
                assertThat(pod.runtime.isEmpty()).isTrue();
                assertThat(pod.runtime.deletedFromApi).isTrue();
                assertThat(pod.runtime.cleaned).isTrue();
                return;
            }
            if (policy.equals("Always")) {
                assertThat(pod.runtime.image("app")).contains(image);
                assertThat(pod.runtime.runs("log")).isTrue();
                assertThat(pod.runtime.runs("proxy")).isEqualTo(withInit);
            }
            if (withInit && !pod.runtime.runs("app") && !pod.runtime.runs("log")) {
                assertThat(pod.runtime.runs("proxy")).isFalse();
            }
            // Nothing piles up: of each name one that runs and one that ended.
            assertThat(pod.runtime.containers()).isLessThanOrEqualTo(withInit ? 8 : 4);
            // A sandbox stays for one that ended.
            assertThat(pod.runtime.sandboxes()).isLessThanOrEqualTo(withInit ? 5 : 3);
            Decision settled = pod.settle();
            assertThat(settled.commands()).isEmpty();
        }
    }
}
