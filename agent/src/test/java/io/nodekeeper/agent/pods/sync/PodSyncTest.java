package io.nodekeeper.agent.pods.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.model.ContainerHealth;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.ProbeKind;
import io.nodekeeper.agent.pods.model.ProbeSpec;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.cri.ContainerState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What is decided for a pod, step by step. */
class PodSyncTest {
    @Test
    void shouldPrepareThenCreateTheSandboxThenStartTheContainersOfANewPod() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));

        pod.settle();

        assertThat(pod.done.stream().map(command -> command.getClass().getSimpleName()))
                .containsExactly("Prepare", "CreateSandbox", "StartContainer", "StartContainer");
        assertThat(pod.runtime.runs("app")).isTrue();
        assertThat(pod.runtime.runs("log")).isTrue();
    }

    @Test
    void shouldStartNothingAgainAfterARestartOfTheAgent() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.settle();
        pod.done.clear();

        pod.memory = PodMemory.EMPTY;
        pod.settle();

        assertThat(pod.done).isEmpty();
    }

    @Test
    void shouldRemoveAContainerThatAnEarlierAgentCreatedAndDidNotStart() {
        PodFixture pod = new PodFixture(PodFixture.pod("Never"));
        PodCommand.StartContainer start =
                new PodCommand.StartContainer(pod.wanted.pod().containers().getFirst(), "s1", 0);
        pod.runtime.apply(new PodCommand.CreateSandbox(0), pod.now);
        pod.runtime.createOnly(start);
        assertThat(pod.runtime.status().containers().getFirst().state()).isEqualTo(ContainerState.CREATED);

        pod.settle();

        assertThat(pod.runtime.runs("app")).isTrue();
        assertThat(pod.runtime.containers()).isEqualTo(2);
    }

    @Test
    void shouldRestartAtOnceThenAfterTenSecondsThenAfterTwenty() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.settle();

        pod.runtime.exitRunning("app", 1, pod.now);
        pod.settle();
        assertThat(pod.runtime.runs("app")).isTrue();

        pod.runtime.exitRunning("app", 1, pod.now);
        Decision waits = pod.settle();
        assertThat(waits.waiting().get("app"))
                .isEqualTo(new Decision.Waiting(
                        "CrashLoopBackOff", "back-off 10s restarting failed container=app pod=web_shop(u1)"));
        pod.after(Duration.ofSeconds(9));
        assertThat(pod.runtime.runs("app")).isFalse();
        pod.after(Duration.ofSeconds(1));
        assertThat(pod.runtime.runs("app")).isTrue();

        pod.runtime.exitRunning("app", 1, pod.now);
        pod.after(Duration.ofSeconds(19));
        assertThat(pod.runtime.runs("app")).isFalse();
        pod.after(Duration.ofSeconds(1));
        assertThat(pod.runtime.runs("app")).isTrue();
        assertThat(pod.events.stream().map(Decision.Event::reason)).containsExactly("BackOff", "BackOff");
    }

    @Test
    void shouldNotWaitLongerThanItsPauseWhenTheClockIsSetBack() {
        // given a container between two restarts, and one whose image cannot be pulled
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.runtime.missing("log:1");
        pod.settle();
        pod.runtime.exitRunning("app", 1, pod.now);
        pod.settle();
        pod.runtime.exitRunning("app", 1, pod.now);
        pod.settle();
        assertThat(pod.runtime.runs("app")).isFalse();
        pod.runtime.available("log:1");

        // when the clock is set back
        pod.now = pod.now.minus(Duration.ofHours(8));
        pod.after(Duration.ofSeconds(10));

        // then both run, and later pauses have their length
        assertThat(pod.runtime.runs("app")).isTrue();
        assertThat(pod.runtime.runs("log")).isTrue();
        pod.runtime.exitRunning("app", 1, pod.now);
        pod.after(Duration.ofSeconds(19));
        assertThat(pod.runtime.runs("app")).isFalse();
        pod.after(Duration.ofSeconds(1));
        assertThat(pod.runtime.runs("app")).isTrue();
    }

    @Test
    void shouldReplaceTwoReadySandboxesByOne() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.settle();

        // A creation that an earlier agent had given up has its effect now.
        pod.runtime.apply(new PodCommand.CreateSandbox(1), pod.now);
        pod.after(Duration.ofSeconds(10));

        assertThat(pod.runtime.status().sandboxes().stream()
                        .filter(status -> status.sandbox().ready())
                        .map(status -> status.sandbox().attempt()))
                .containsExactly(2);
        assertThat(pod.runtime.runs("app")).isTrue();
        assertThat(pod.runtime.runs("log")).isTrue();
    }

    @Test
    void shouldKeepOneEndedContainerOfEachNameOfAPodThatHasEnded() {
        PodFixture pod = new PodFixture(PodFixture.pod("OnFailure"));
        pod.settle();
        pod.runtime.exitRunning("app", 1, pod.now);
        pod.settle();
        pod.runtime.exitRunning("app", 1, pod.now);
        pod.after(Duration.ofSeconds(10));

        pod.runtime.exitRunning("app", 0, pod.now);
        pod.runtime.exitRunning("log", 0, pod.now);
        pod.settle();

        assertThat(pod.runtime.status().containers().stream()
                        .map(container -> container.name() + " " + container.exitCode()))
                .containsExactlyInAnyOrder("app 0", "log 0");
    }

    @Test
    void shouldNeverWaitLongerThanFiveMinutesAndForgetAfterTenCalmOnes() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        crashTenTimes(pod);
        pod.after(Duration.ofMinutes(16));

        pod.runtime.exitRunning("app", 1, pod.now);
        pod.settle();

        assertThat(pod.runtime.runs("app")).isTrue();
    }

    /** Lets a container fail as soon as it runs, until its pause is the longest. */
    private static void crashTenTimes(PodFixture pod) {
        for (int crash = 0; crash < 10; crash++) {
            pod.after(Duration.ofMinutes(5));
            assertThat(pod.runtime.runs("app")).isTrue();
            pod.runtime.exitRunning("app", 1, pod.now);
        }
    }

    @Test
    void shouldNotCountThePauseOfAContainerAsCalm() {
        // given a container that has reached the longest pause
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        crashTenTimes(pod);
        pod.after(Duration.ofMinutes(5));

        // when it runs for nearly ten minutes and fails, again and again: pause and run together are longer
        for (int crash = 0; crash < 3; crash++) {
            pod.after(Duration.ofSeconds(590));
            pod.runtime.exitRunning("app", 1, pod.now);

            // then the pause stays as long as it was
            pod.after(Duration.ofSeconds(299));
            assertThat(pod.runtime.runs("app")).isFalse();
            pod.after(Duration.ofSeconds(1));
            assertThat(pod.runtime.runs("app")).isTrue();
        }
    }

    @Test
    void shouldKeepOneEndedContainerOfEachName() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        for (int crash = 0; crash < 5; crash++) {
            pod.after(Duration.ofMinutes(6));
            pod.runtime.exitRunning("app", 1, pod.now);
        }
        pod.after(Duration.ofMinutes(6));

        // Two that run, and the one that ended last.
        assertThat(pod.runtime.containers()).isEqualTo(3);
    }

    @Test
    void shouldNotRestartWhatSucceededOnFailureOnly() {
        PodFixture pod = new PodFixture(PodFixture.pod("OnFailure"));
        pod.settle();

        pod.runtime.exitRunning("app", 0, pod.now);
        pod.runtime.exitRunning("log", 2, pod.now);
        pod.after(Duration.ofMinutes(1));

        assertThat(pod.runtime.runs("app")).isFalse();
        assertThat(pod.runtime.runs("log")).isTrue();
    }

    @Test
    void shouldStopTheSandboxOnceAllContainersHaveEndedForGood() {
        PodFixture pod = new PodFixture(PodFixture.pod("Never"));
        pod.settle();

        pod.runtime.exitRunning("app", 0, pod.now);
        pod.runtime.exitRunning("log", 1, pod.now);
        pod.after(Duration.ofMinutes(1));

        assertThat(pod.runtime.status().sandboxes().getFirst().sandbox().ready())
                .isFalse();
        assertThat(pod.runtime.containers()).isEqualTo(2);
    }

    @Test
    void shouldReplaceASandboxThatDiedAndAllContainersInIt() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.settle();

        pod.runtime.sandboxDies(pod.now);
        pod.after(Duration.ofSeconds(1));

        assertThat(pod.runtime.status().sandboxes().getFirst().sandbox().attempt())
                .isEqualTo(1);
        assertThat(pod.runtime.runs("app")).isTrue();
        assertThat(pod.runtime.runs("log")).isTrue();
    }

    /** A pod whose container {@code app} has ended, and runs again. */
    private static PodFixture podThatHasEndedOnce() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.settle();
        pod.runtime.exitRunning("app", 1, pod.now);
        pod.settle();
        return pod;
    }

    @Test
    void shouldKeepOnlyTheSandboxesOfContainersThatItShows() {
        // given a pod of which one container has ended before
        PodFixture pod = podThatHasEndedOnce();

        // when its sandbox dies again and again
        for (int death = 0; death < 5; death++) {
            pod.runtime.sandboxDies(pod.now);
            pod.after(Duration.ofMinutes(6));
            assertThat(pod.runtime.runs("app")).isTrue();
        }

        // then the last ends are still known, and of the sandboxes those that are needed for that are left
        assertThat(pod.runtime.sandboxes()).isEqualTo(2);
        assertThat(pod.runtime.containers()).isEqualTo(4);
    }

    @Test
    void shouldRemoveSandboxesThatDieBeforeAnythingRunsInThem() {
        PodFixture pod = podThatHasEndedOnce();

        for (int death = 0; death < 5; death++) {
            pod.runtime.sandboxDies(pod.now);
            pod.now = pod.now.plus(Duration.ofMinutes(6));
            while (!createsSandbox(pod)) {
                pod.now = pod.now.plusSeconds(1);
            }
            while (pod.remove(pod.decide())) {
                assertThat(pod.removed).hasSizeLessThan(20);
            }
        }

        // then there is the newest one, and that of the containers that the status shows
        assertThat(pod.runtime.sandboxes()).isEqualTo(2);
    }

    /** Carries out what is decided now; whether a sandbox is made. */
    private static boolean createsSandbox(PodFixture pod) {
        List<PodCommand> commands = pod.decide().commands();
        commands.forEach(
                command -> pod.memory = pod.memory.after(command, pod.runtime.apply(command, pod.now), pod.now));
        return commands.stream().anyMatch(PodCommand.CreateSandbox.class::isInstance);
    }

    @Test
    void shouldStartContainersInANewSandboxThoughWhatEarlierOnesLeftCannotBeRemoved() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.settle();
        pod.runtime.removeFails = true;

        for (int death = 0; death < 3; death++) {
            pod.runtime.sandboxDies(pod.now);
            pod.after(Duration.ofMinutes(6));
            assertThat(pod.runtime.runs("app")).isTrue();
        }

        // and what is left is tried again every 10 s
        pod.removed.clear();
        pod.after(Duration.ofMinutes(1));
        assertThat(pod.removed).hasSize(6);
    }

    @Test
    void shouldMakeNoMoreSandboxesWhileThreeReplacedOnesCannotBeRemoved() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.settle();
        pod.runtime.removeFails = true;

        for (int death = 0; death < 10; death++) {
            pod.runtime.sandboxDies(pod.now);
            pod.after(Duration.ofMinutes(6));
        }

        // then there are three replaced ones, and the last one, which died
        assertThat(pod.runtime.sandboxes()).isEqualTo(4);
        assertThat(pod.runtime.runs("app")).isFalse();
        // and the pod goes on once they can be removed
        pod.runtime.removeFails = false;
        pod.after(Duration.ofMinutes(6));
        assertThat(pod.runtime.runs("app")).isTrue();
        assertThat(pod.runtime.sandboxes()).isEqualTo(2);
    }

    @Test
    void shouldEndADeletedPodAlthoughWhatItLeftCouldNotBeRemovedAMomentAgo() {
        PodFixture pod = podThatHasEndedOnce();
        pod.runtime.removeFails = true;
        pod.runtime.exitRunning("app", 1, pod.now);
        pod.after(Duration.ofSeconds(10));
        assertThat(pod.removed).isNotEmpty();

        pod.runtime.removeFails = false;
        pod.wanted = Wanted.ofApi(deleted(7));
        pod.settle();

        assertThat(pod.runtime.deletedFromApi).isTrue();
    }

    @Test
    void shouldRemoveWhatFailedCreationsOfSandboxesLeave() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));

        for (int failure = 0; failure < 5; failure++) {
            pod.runtime.sandboxFails = true;
            pod.after(Duration.ofSeconds(10));
        }

        assertThat(pod.runtime.sandboxes()).isLessThanOrEqualTo(2);
        // and such a failure has only its own pause
        pod.runtime.sandboxFails = false;
        pod.after(Duration.ofSeconds(10));
        assertThat(pod.runtime.runs("app")).isTrue();
        assertThat(pod.runtime.sandboxes()).isEqualTo(1);
    }

    /** As with a network plugin that fails now and then: nothing has died. */
    @Test
    void shouldNotTakeAFailedCreationForADeathBecauseItsCleanUpFailsToo() {
        // given creations of a sandbox that fail, and after each of them a stop
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        for (int failure = 0; failure < 5; failure++) {
            pod.runtime.sandboxFails = true;
            pod.after(Duration.ofSeconds(10));
            pod.runtime.stopFails = true;
            pod.after(Duration.ofSeconds(10));
            pod.runtime.stopFails = false;
        }

        // when they succeed
        pod.runtime.sandboxFails = false;
        pod.after(Duration.ofSeconds(10));

        // then the pod runs
        assertThat(pod.runtime.runs("app")).isTrue();
        assertThat(pod.events).noneMatch(event -> event.message().startsWith("Back-off replacing"));
    }

    @Test
    void shouldReplaceSandboxesThatDieAgainAndAgainWithPauses() {
        // given a pod whose sandbox dies as soon as it is there
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.settle();
        Decision waits = pod.settle();
        pod.done.clear();

        for (int second = 0; second < 60; second++) {
            pod.runtime.sandboxDies(pod.now);
            waits = pod.after(Duration.ofSeconds(1));
        }

        // then it is replaced at once, 10 s later, and 20 s after that; the next time after 40 s
        assertThat(sandboxesMade(pod)).isEqualTo(3);
        assertThat(waits.waiting().get("app"))
                .isEqualTo(new Decision.Waiting(
                        "CrashLoopBackOff", "back-off 40s replacing the sandbox of pod web_shop(u1)"));
        assertThat(pod.events)
                .contains(
                        new Decision.Event("Warning", "BackOff", "Back-off replacing the sandbox of pod web_shop(u1)"));
        // and once ten minutes were calm, it is replaced at once again
        pod.after(Duration.ofMinutes(12));
        assertThat(pod.runtime.runs("app")).isTrue();
        pod.runtime.sandboxDies(pod.now);
        pod.settle();
        assertThat(sandboxesMade(pod)).isEqualTo(5);
    }

    private static long sandboxesMade(PodFixture pod) {
        return pod.done.stream()
                .filter(PodCommand.CreateSandbox.class::isInstance)
                .count();
    }

    @Test
    void shouldStartACorrectedImageAtOnceThoughTheWrongOneWaits() {
        // given a container whose image cannot be pulled
        PodFixture pod = new PodFixture(PodFixture.pod("Always", "ap:1", ""));
        pod.runtime.missing("ap:1");
        pod.after(Duration.ofMinutes(2));

        // when its image is corrected
        pod.wanted = Wanted.ofApi(PodFixture.pod("Always", "app:1", ""));
        pod.settle();

        // then it does not wait for the other image
        assertThat(pod.runtime.image("app")).contains("app:1");
    }

    @Test
    void shouldNotShowTheErrorOfAnImageUnderTheNameOfTheNext() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always", "ap:1", ""));
        pod.runtime.missing("ap:1");
        pod.after(Duration.ofMinutes(2));

        pod.runtime.missing("app:2");
        pod.wanted = Wanted.ofApi(PodFixture.pod("Always", "app:2", ""));
        Decision decision = pod.settle();

        assertThat(decision.waiting().get("app")).isEqualTo(new Decision.Waiting("ErrImagePull", "no such image"));
        assertThat(pod.memory.problems()).hasSize(1);
    }

    @Test
    void shouldReplaceAContainerWhoseImageChanged() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.settle();

        pod.wanted = Wanted.ofApi(PodFixture.pod("Always", "app:2", ""));
        pod.settle();

        assertThat(pod.runtime.image("app")).contains("app:2");
        assertThat(pod.runtime.sandboxes()).isEqualTo(1);
    }

    @Test
    void shouldStartAgainWhatAProbeEndedThoughItSucceeded() {
        PodFixture pod = new PodFixture(probed("OnFailure"));
        pod.runtime.killed = 0;
        pod.settle();
        pod.runtime.exitRunning("log", 0, pod.now);

        failsProbe(pod);

        assertThat(pod.runtime.runs("app")).isTrue();
        assertThat(pod.runtime.runs("log")).isFalse();
        // and its own success counts as before
        pod.runtime.exitRunning("app", 0, pod.now);
        pod.after(Duration.ofMinutes(1));
        assertThat(pod.runtime.runs("app")).isFalse();
    }

    @Test
    void shouldNotStartAgainWhatAProbeEndedOfAPodThatNeverRestarts() {
        PodFixture pod = new PodFixture(probed("Never"));
        pod.runtime.killed = 0;
        pod.settle();

        failsProbe(pod);

        assertThat(pod.runtime.runs("app")).isFalse();
    }

    @Test
    void shouldStartAgainAContainerWhoseImageChangedWhateverThePolicy() {
        for (String policy : List.of("OnFailure", "Never")) {
            PodFixture pod = new PodFixture(PodFixture.pod(policy));
            pod.runtime.killed = 0;
            pod.settle();
            pod.runtime.exitRunning("log", 0, pod.now);

            pod.wanted = Wanted.ofApi(PodFixture.pod(policy, "app:2", ""));
            pod.after(Duration.ofSeconds(10));

            assertThat(pod.runtime.image("app")).as(policy).contains("app:2");
        }
    }

    @Test
    void shouldStartAgainWhatEndedWithItsSandboxThoughItSucceeded() {
        PodFixture pod = new PodFixture(PodFixture.pod("OnFailure"));
        pod.runtime.killed = 0;
        pod.settle();

        pod.runtime.sandboxAloneDies();
        pod.after(Duration.ofSeconds(10));

        assertThat(pod.runtime.runs("app")).isTrue();
        assertThat(pod.runtime.runs("log")).isTrue();
    }

    /** The liveness probe of the running container {@code app} fails, and time passes. */
    private static void failsProbe(PodFixture pod) {
        String id = pod.runtime.status().containers().stream()
                .filter(container -> container.name().equals("app"))
                .findFirst()
                .orElseThrow()
                .id();
        ContainerSpec app = pod.wanted.pod().containers().getFirst();
        pod.health = Map.of(id, new ContainerHealth(true, true, ProbeSpec.of(app, ProbeKind.LIVENESS)));
        pod.after(Duration.ofSeconds(10));
    }

    /** As {@link PodFixture#pod}, with a liveness probe of {@code app}. */
    private static Pod probed(String policy) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"},
                 "spec": {"restartPolicy": "%s", "containers": [
                   {"name": "app", "image": "app:1", "livenessProbe": {"exec": {"command": ["true"]}}},
                   {"name": "log", "image": "log:1"}]}}
                """.formatted(policy)));
    }

    @Test
    void shouldEndADeletedPodWithItsGraceThenRemoveEverythingThenDeleteItFromTheApi() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.settle();
        pod.done.clear();

        pod.wanted = Wanted.ofApi(deleted(7));
        Decision end = pod.settle();

        assertThat(pod.done.stream().map(command -> command.getClass().getSimpleName()))
                .containsExactly(
                        "KillContainers",
                        "StopSandbox",
                        "RemoveContainer",
                        "RemoveContainer",
                        "RemoveSandbox",
                        "CleanUp",
                        "DeleteFromApi");
        assertThat(((PodCommand.KillContainers) pod.done.getFirst()).grace()).isEqualTo(Duration.ofSeconds(7));
        assertThat(end.finished()).isTrue();
    }

    @Test
    void shouldNotGiveTheTimeBackThatTheNodeHasTakenWhenThePodIsDeletedAgain() {
        // given a deleted pod with ten minutes to end, to which the node gives 20 s
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.settle();
        pod.done.clear();
        pod.wanted = Wanted.ofApi(deleted(600)).shortened(Duration.ofSeconds(20));

        // when it is deleted again
        pod.wanted = pod.wanted.then(Wanted.ofApi(deleted(300)));
        Decision end = pod.settle();

        // then it has 20 s, and still goes from the API
        assertThat(((PodCommand.KillContainers) pod.done.getFirst()).grace()).isEqualTo(Duration.ofSeconds(20));
        assertThat(end.finished()).isTrue();
        assertThat(pod.runtime.deletedFromApi).isTrue();
    }

    @Test
    void shouldNotDeleteFromTheApiWhatNoSourceHas() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.settle();

        pod.wanted = Wanted.gone(pod.wanted.pod(), Duration.ofSeconds(2));
        Decision end = pod.settle();

        assertThat(end.finished()).isTrue();
        assertThat(pod.runtime.isEmpty()).isTrue();
        assertThat(pod.runtime.deletedFromApi).isFalse();
    }

    @Test
    void shouldShowAFailedPullThenThatTheNextOneWaits() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.runtime.missing("app:1");

        Decision first = pod.settle();
        assertThat(first.waiting().get("app")).isEqualTo(new Decision.Waiting("ErrImagePull", "no such image"));
        assertThat(pod.runtime.runs("log")).isTrue();

        Decision later = pod.after(Duration.ofSeconds(3));
        assertThat(later.waiting().get("app"))
                .isEqualTo(new Decision.Waiting(
                        "ImagePullBackOff", "Back-off pulling image \"app:1\": ErrImagePull: no such image"));

        pod.runtime.available("app:1");
        pod.after(Duration.ofSeconds(7));
        assertThat(pod.runtime.runs("app")).isTrue();
    }

    @Test
    void shouldWaitForTheNetworkUnlessThePodIsOnTheHosts() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.networkError = Optional.of("container runtime network not ready: NetworkReady=false"
                + " reason:NetworkPluginNotReady message:cni plugin not initialized");

        pod.after(Duration.ofSeconds(5));
        assertThat(pod.runtime.sandboxes()).isZero();
        assertThat(pod.events)
                .containsExactly(new Decision.Event(
                        "Warning",
                        "NetworkNotReady",
                        "network is not ready: container runtime network not ready: NetworkReady=false"
                                + " reason:NetworkPluginNotReady message:cni plugin not initialized"));

        pod.networkError = Optional.empty();
        pod.after(Duration.ofSeconds(1));
        assertThat(pod.runtime.runs("app")).isTrue();
    }

    @Test
    void shouldCutALongErrorOfTheNetworkInTheEvent() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        pod.networkError = Optional.of("x".repeat(1_001));

        pod.settle();

        assertThat(pod.events)
                .containsExactly(new Decision.Event(
                        "Warning", "NetworkNotReady", "network is not ready: " + "x".repeat(1_000) + "…"));
    }

    @Test
    void shouldRefuseAPodByTheNameOfTheFieldThatIsNotSupported() {
        Pod asked = new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"},
                 "spec": {"containers": [{"name": "app", "image": "app:1"}], "resourceClaims": []}}
                """));
        PodFixture pod = new PodFixture(asked);

        Decision decision = pod.after(Duration.ofMinutes(1));

        String message = "spec.resourceClaims is not supported by this node's agent";
        assertThat(decision.waiting().get("app")).isEqualTo(new Decision.Waiting("UnsupportedField", message));
        assertThat(pod.events).containsExactly(new Decision.Event("Warning", "UnsupportedField", message));
        assertThat(pod.runtime.isEmpty()).isTrue();
    }

    @Test
    void shouldTryANewAttemptAfterAFailedSandbox() {
        PodFixture pod = new PodFixture(PodFixture.pod("Always"));
        Decision decision = pod.decide();
        PodCommand create = decision.commands().getLast();

        pod.memory = pod.memory.after(create, new Outcome.Failed("Failed", "no address"), pod.now);

        assertThat(pod.decide().commands()).isEmpty();
        pod.now = pod.now.plusSeconds(1);
        assertThat(pod.decide().commands()).contains(new PodCommand.CreateSandbox(1));
    }

    private static Pod deleted(int grace) {
        return PodFixture.pod(
                "Always",
                "app:1",
                ", \"deletionTimestamp\": \"2026-01-01T00:00:30Z\", \"deletionGracePeriodSeconds\": " + grace);
    }
}
