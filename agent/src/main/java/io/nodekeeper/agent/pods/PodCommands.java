package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.kernel.KernelFile;
import io.nodekeeper.agent.pods.containers.Sandboxes;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.objects.RuntimeClasses;
import io.nodekeeper.agent.pods.persistent.PersistentException;
import io.nodekeeper.agent.pods.sync.Outcome;
import io.nodekeeper.agent.pods.sync.PodCommand;
import io.nodekeeper.agent.pods.sync.Reasons;
import io.nodekeeper.agent.pods.turns.StartTurns;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.RuntimeCall;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries out commands of pods: calls to the runtime, files, the API. Confined to the loop of its ports. */
final class PodCommands {
    private static final Logger log = LoggerFactory.getLogger(PodCommands.class);
    private static final String FAILED = "Failed";
    /** The kubelet's reason for a pod without its cgroup. */
    private static final String FAILED_CGROUP = "FailedCreatePodContainer";

    private final PodPorts ports;
    private final PodEvents events;
    private final Hooks hooks;
    private final ContainerStopper stopper;
    private final ContainerStarter starter;
    private final PodVolumes volumes;
    private final RuntimeClasses runtimeClasses;
    private final PodStarts starts;
    private int cgroupTries;

    PodCommands(PodPorts ports, PodVolumes volumes) {
        this.ports = ports;
        this.volumes = volumes;
        this.runtimeClasses = new RuntimeClasses(ports.objects());
        this.events = new PodEvents(ports.events());
        this.starts = new PodStarts(ports);
        this.hooks = new Hooks(ports, starts);
        this.stopper = new ContainerStopper(ports, hooks);
        this.starter = new ContainerStarter(ports, volumes, hooks, stopper, starts);
    }

    /** Gives up what would delay the end of the pod, and begins nothing of that kind any more. */
    void abandonStarts() {
        starts.abandon();
        hooks.abandonPostStart();
        starter.abandonPull();
        volumes.abandon();
    }

    /** The pod has {@code grace} to end from now on: a stop that would take longer is given up, and decided again. */
    void shortenStop(Duration grace) {
        stopper.shorten(grace);
    }

    /** The address at which the node reaches the pod; empty if it has none yet. */
    String address(Pod pod, List<String> podIps) {
        List<String> addresses = pod.hostNetwork() ? ports.node().get().addresses() : podIps;
        return addresses.stream().findFirst().orElse("");
    }

    /** Carries {@code command} out. The result never fails; it completes on the loop. */
    CompletableFuture<Outcome> run(Pod pod, PodCommand command, List<String> podIps) {
        CompletableFuture<?> work = switch (command) {
            case PodCommand.Prepare prepare -> volumes.prepare(pod);
            case PodCommand.CreateSandbox(int attempt) ->
                makeCgroup(pod)
                        .thenCompose(made -> resolvConf())
                        .thenCompose(text -> runtimeClasses
                                .handler(pod)
                                .thenCompose(handler -> starts.call(
                                        StartTurns.Kind.SANDBOX,
                                        new RuntimeCall.RunSandbox(
                                                Sandboxes.config(
                                                        pod,
                                                        attempt,
                                                        ports.node().get(),
                                                        text),
                                                handler))));
            case PodCommand.StopSandbox(String id) -> absent(new RuntimeCall.StopSandbox(id));
            case PodCommand.RemoveSandbox(String id) -> absent(new RuntimeCall.RemoveSandbox(id));
            case PodCommand.StartContainer start ->
                resolvConf().thenCompose(text -> starter.start(pod, start, podIps, address(pod, podIps), text));
            case PodCommand.KillContainers kill -> stopper.stop(pod, kill, address(pod, podIps));
            case PodCommand.RemoveContainer remove ->
                absent(new RuntimeCall.RemoveContainer(remove.id()))
                        .thenCompose(done -> ports.onDisk("log of " + pod.fullName(), () -> {
                            ports.files().removeContainer(pod, remove.name(), remove.attempt(), remove.id());
                            return "";
                        }));
            case PodCommand.CleanUp clean -> cleanUp(pod);
            case PodCommand.DeleteFromApi delete -> delete(pod);
        };
        return work.<Outcome>thenApply(done -> new Outcome.Done())
                .exceptionally(error -> failed(pod, command, Failures.cause(error)));
    }

    private Outcome failed(Pod pod, PodCommand command, Throwable cause) {
        String message = Failures.text(cause);
        String reason = cause instanceof CommandFailure failure ? failure.reason() : FAILED;
        if (reason.equals(CommandFailure.ABANDONED)) {
            return new Outcome.Done();
        }
        if (reason.equals(ContainerStopper.SHORTENED)) {
            return new Outcome.GivenUp();
        }
        switch (command) {
            case PodCommand.Prepare prepare ->
                events.warning(
                        pod, cause instanceof PersistentException volume ? volume.reason() : "FailedMount", message);
            case PodCommand.CreateSandbox create -> {
                if (reason.equals(FAILED_CGROUP)) {
                    events.warning(pod, FAILED_CGROUP, message);
                } else {
                    events.warning(pod, "FailedCreatePodSandBox", "Failed to create pod sandbox: " + message);
                }
            }
            case PodCommand.StartContainer start -> {
                // Of a hook the event was recorded when it failed.
                if (!reason.equals(Reasons.POST_START_HOOK_ERROR)) {
                    events.warning(pod, FAILED, "Error: " + reason + ": " + message);
                }
            }
            case PodCommand.KillContainers kill ->
                events.warning(pod, "FailedKillPod", "error killing pod: " + message);
            case PodCommand.StopSandbox stop -> events.warning(pod, "FailedKillPod", "error killing pod: " + message);
            case PodCommand.RemoveSandbox remove -> events.warning(pod, FAILED, message);
            case PodCommand.RemoveContainer remove -> events.warning(pod, FAILED, message);
            case PodCommand.CleanUp clean ->
                events.warning(pod, reason.equals(FAILED_CGROUP) ? "FailedKillPod" : "FailedUnMount", message);
            case PodCommand.DeleteFromApi delete -> {}
        }
        return new Outcome.Failed(reason, message);
    }

    /** Removes the cgroup of a pod that has ended and stays in the API. */
    void releaseCgroup(Pod pod) {
        ports.cgroups()
                .ifPresent(cgroups -> cgroups.remove(pod, 0).exceptionally(error -> {
                    log.warn("Pod {} has ended, but its cgroup is left: {}", pod.fullName(), Failures.text(error));
                    return null;
                }));
    }

    private CompletableFuture<?> makeCgroup(Pod pod) {
        return ports.cgroups()
                .map(cgroups -> cgroups.make(pod)
                        .exceptionallyCompose(error -> CompletableFuture.failedFuture(new CommandFailure(
                                FAILED_CGROUP, "unable to ensure pod container exists: " + Failures.text(error)))))
                .orElseGet(() -> CompletableFuture.completedFuture(null));
    }

    /** Kills what is left of the pod first, and removes the files even if that fails. */
    private CompletableFuture<?> cleanUp(Pod pod) {
        CompletableFuture<Void> ended = ports.cgroups()
                .map(cgroups -> cgroups.remove(pod, cgroupTries++)
                        .exceptionallyCompose(error -> CompletableFuture.failedFuture(
                                new CommandFailure(FAILED_CGROUP, "error killing pod: " + Failures.text(error)))))
                .orElseGet(() -> CompletableFuture.completedFuture(null));
        return ended.handle((done, error) -> volumes.remove(pod))
                .thenCompose(removed -> removed)
                .thenCompose(done -> ended);
    }

    private CompletableFuture<?> delete(Pod pod) {
        JsonObject options = JsonObject.builder()
                .put("kind", "DeleteOptions")
                .put("apiVersion", "v1")
                .put("gracePeriodSeconds", 0)
                .put("preconditions", JsonObject.builder().put("uid", pod.uid()).build())
                .build();
        return ports.client()
                .delete(ResourceType.PODS, pod.namespace(), pod.name(), options)
                .exceptionallyCompose(error -> Failures.isCode(error, 404) || Failures.isCode(error, 409)
                        ? CompletableFuture.completedFuture(JsonObject.EMPTY)
                        : CompletableFuture.failedFuture(error));
    }

    /** A call about something that may be gone already, which is as good. */
    private CompletableFuture<?> absent(RuntimeCall<RuntimeCall.Done> call) {
        return ContainerStopper.ignoringAbsence(ports.runtime().call(call, ports.callDeadline()));
    }

    private CompletableFuture<String> resolvConf() {
        if (ports.resolvConf().toString().isEmpty()) {
            return CompletableFuture.completedFuture(ports.node().get().loopbackResolvConf());
        }
        return ports.onDisk(
                ports.resolvConf().toString(),
                () -> Files.exists(ports.resolvConf()) ? KernelFile.text(ports.resolvConf()) : "");
    }
}
