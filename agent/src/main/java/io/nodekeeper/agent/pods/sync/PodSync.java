package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.agent.pleg.PodStatus;
import io.nodekeeper.agent.pods.containers.PodLabels;
import io.nodekeeper.agent.pods.model.ContainerHealth;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.UnsupportedFields;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.PodSandboxStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Decides what must be done for one pod. The rules are the kubelet's: a pod has one ready sandbox; a container is started
 * if none of its name runs and the restart policy allows it; main containers wait for the init containers ({@link InitProgress});
 * a container whose liveness or startup probe failed is ended; a sandbox that is no longer ready is replaced, and with it all
 * containers; a pod that must end is stopped first, then removed, then deleted from the API. Pure: the same inputs give the
 * same decision, and a decision that was carried out gives another one.
 */
public final class PodSync {
    /** How long the status shows why a pull failed, before it shows that the next one waits. */
    private static final Duration PULL_ERROR_SHOWN = Duration.ofSeconds(2);
    /** The most characters of the network's error in an event, whose message may have 1,024 in Kubernetes. */
    private static final int NETWORK_ERROR = 1_000;
    /** The pause before the network is looked at again. */
    private static final Duration NETWORK_PAUSE = Duration.ofSeconds(1);
    /** So many replaced sandboxes that cannot be removed hold up the next one: the runtime's lists must stay short. Usually there is one. */
    private static final int MOST_REPLACED = 3;
    /** The key under which the memory keeps that an event about the network was sent. */
    private static final String NETWORK = "/network";
    /** The key for events about the sandbox. */
    private static final String SANDBOX = "/sandbox";

    private final Wanted wanted;
    private final Pod pod;
    private final Observed observed;
    private final Map<String, ContainerHealth> health;
    private final Faults faults;
    private final Optional<String> networkError;
    private final Instant now;
    /** Why a container waits of which nothing else is known. */
    private final Decision.Waiting creating;

    private final List<PodCommand> commands = new ArrayList<>();
    private Optional<PodCommand> removal = Optional.empty();
    private final Map<String, Decision.Waiting> waiting = new HashMap<>();
    private final List<Decision.Event> events = new ArrayList<>();
    private Optional<Instant> wakeAt = Optional.empty();
    private boolean stopsForGood;
    private PodMemory memory;

    private PodSync(
            Wanted wanted,
            PodStatus status,
            PodMemory memory,
            Map<String, ContainerHealth> health,
            Optional<String> networkError,
            Instant now) {
        this.wanted = wanted;
        this.pod = wanted.pod();
        this.observed = new Observed(status);
        this.memory = memory;
        this.health = health;
        faults = new Faults(pod, health);
        this.networkError = networkError;
        this.now = now;
        creating = new Decision.Waiting(
                pod.initContainers().isEmpty() ? Reasons.CONTAINER_CREATING : Reasons.POD_INITIALIZING, "");
    }

    /**
     * The decision.
     *
     * @param status what the runtime showed after the last command ended
     * @param health of the running containers that have probes, by the runtime's id
     * @param networkError why the runtime cannot give a pod a network; empty if it can
     * @param now by the wall clock, as the runtime's times are
     */
    public static Decision step(
            Wanted wanted,
            PodStatus status,
            PodMemory memory,
            Map<String, ContainerHealth> health,
            Optional<String> networkError,
            Instant now) {
        PodSync sync = new PodSync(wanted, status, memory, health, networkError, now);
        if (!wanted.run()) {
            sync.end();
        } else if (wanted.pod().isTerminal()) {
            sync.stopForGood();
        } else {
            sync.run();
        }
        boolean done = sync.commands.isEmpty() && sync.removal.isEmpty() && sync.wakeAt.isEmpty();
        return new Decision(
                sync.commands,
                sync.removal,
                sync.waiting,
                sync.events,
                sync.memory,
                sync.wakeAt,
                done && sync.stopsForGood,
                done && !wanted.run());
    }

    private void run() {
        boolean ready = observed.hasOneReadySandbox();
        List<ContainerSpec> due = new ArrayList<>();
        Map<Duration, List<PodCommand.Kill>> kills = new TreeMap<>();
        // Those that are ended to run again, whatever their exit codes will be.
        Map<String, String> replaced = new HashMap<>();
        boolean lives = false;
        for (ContainerSpec container : pod.containers()) {
            Optional<ContainerStatus> newest = observed.newest(container.name());
            boolean runs = newest.filter(Observed::mayRun).isPresent();
            Optional<Faults.Fault> fault = newest.flatMap(status -> faults.of(container, status));
            boolean again =
                    runs && (ready ? fault.filter(Faults.Fault::restarts).isPresent() : !never());
            if (again) {
                replaced.put(container.name(), newest.orElseThrow().id());
            }
            if (runs && ready && fault.isEmpty()) {
                lives = true;
            } else if (runs && ready) {
                addKill(newest.orElseThrow(), fault.orElseThrow().message(), kills);
            } else if (runs || newest.isEmpty() || restarts(newest.get())) {
                due.add(container);
            }
        }
        InitProgress init = InitProgress.of(pod, observed, health);
        boolean ended = due.isEmpty() && kills.isEmpty() && !lives;
        if (ended || init.failed()) {
            // Sidecars end with the others.
            due.forEach(container -> waiting.put(container.name(), creating));
            stopForGood();
            return;
        }
        if (ready) {
            init.kills().forEach(status -> addKill(status, faults.ofInit(status), kills));
            if (!init.done()) {
                due.forEach(container -> waiting.put(container.name(), creating));
                due.clear();
            }
            due.addAll(0, init.due());
            ephemeral(due);
        }
        due.forEach(container -> waiting.put(container.name(), creating));
        Optional<String> unsupported = UnsupportedFields.first(pod);
        if (unsupported.isPresent() && !areEphemeral(due)) {
            refuse(unsupported.get());
        } else if (!kills.isEmpty()) {
            if (!isBlocked()) {
                kills.forEach((grace, list) -> commands.add(new PodCommand.KillContainers(list, grace)));
            }
        } else if (due.isEmpty()) {
            tidy();
        } else if (ready && memory.prepared()) {
            due.forEach(this::start);
            tidy();
        } else {
            sandbox();
        }
        if (commands.stream().anyMatch(PodCommand.KillContainers.class::isInstance)) {
            memory = memory.replacing(replaced);
        }
    }

    private boolean never() {
        return pod.restartPolicy() == Pod.RestartPolicy.NEVER;
    }

    /** Adds the ephemeral containers that are due; of those that must wait, an event says so once. */
    private void ephemeral(List<ContainerSpec> due) {
        EphemeralProgress progress = EphemeralProgress.of(pod, observed, memory);
        due.addAll(0, progress.due());
        progress.waiting().forEach((name, why) -> {
            waiting.put(name, why);
            if (!why.message().equals(memory.waited().get(name))) {
                events.add(new Decision.Event("Warning", "Failed", "Error: " + why.reason() + ": " + why.message()));
                memory = memory.waiting(name, why.message());
            }
        });
    }

    private boolean areEphemeral(List<ContainerSpec> due) {
        return new HashSet<>(pod.ephemeralContainers()).containsAll(due);
    }

    private Optional<String> target(ContainerSpec container) {
        return observed.newest(container.targetContainer()).map(ContainerStatus::id);
    }

    private void addKill(ContainerStatus status, String why, Map<Duration, List<PodCommand.Kill>> kills) {
        kills.computeIfAbsent(faults.grace(status), time -> new ArrayList<>())
                .add(new PodCommand.Kill(status.id(), status.name(), why));
    }

    private void refuse(String field) {
        String message = field + " is not supported by this node's agent";
        waiting.replaceAll((container, reason) -> new Decision.Waiting(Reasons.UNSUPPORTED_FIELD, message));
        if (!memory.waited().containsKey(PodMemory.POD)) {
            events.add(new Decision.Event("Warning", Reasons.UNSUPPORTED_FIELD, message));
            memory = memory.waiting(PodMemory.POD, field);
        }
    }

    /** Makes a sandbox, once all that is left of earlier ones has stopped. */
    private void sandbox() {
        boolean ready = observed.hasOneReadySandbox();
        if (isBlocked() || !ready && stopAll()) {
            return;
        }
        int replaced = tidy().sandboxes().size();
        if (networkError.isPresent() && !pod.hostNetwork() && !ready) {
            if (!memory.waited().containsKey(NETWORK)) {
                String error = networkError.get();
                String shown = error.length() <= NETWORK_ERROR ? error : error.substring(0, NETWORK_ERROR) + "…";
                events.add(new Decision.Event("Warning", "NetworkNotReady", "network is not ready: " + shown));
                memory = memory.waiting(NETWORK, "");
            }
            wake(now.plus(NETWORK_PAUSE));
            return;
        }
        if (!ready && (replaced >= MOST_REPLACED || !memory.sandboxFailed() && backOff())) {
            return;
        }
        if (!memory.prepared()) {
            commands.add(new PodCommand.Prepare());
        }
        if (!ready) {
            replace();
        }
    }

    /** Makes the next sandbox. */
    private void replace() {
        // In a new sandbox all init containers run again: what is left of them, or a main container that was only
        // created, would say that they have run.
        Set<String> init = initNames();
        observed.containers().stream()
                .filter(container -> init.contains(container.name()) || container.state() == ContainerState.CREATED)
                .forEach(container -> commands.add(PodCommand.RemoveContainer.of(container)));
        commands.add(new PodCommand.CreateSandbox(Math.max(memory.nextAttempt(), observed.highestAttempt() + 1)));
    }

    /** Whether a sandbox that died is replaced later, because others did soon before. The first one of a series does not wait. */
    private boolean backOff() {
        Optional<String> dead = observed.sandbox().map(PodSandbox::id);
        PodMemory.Restart last = memory.replacement();
        if (dead.isEmpty() || dead.get().equals(last.after())) {
            return false;
        }
        Instant until = last.pause().until(last.pause().updated(), now);
        if (!until.isAfter(now)) {
            memory = memory.replacingSandbox(dead.get(), now);
            return false;
        }
        String what = "replacing the sandbox of pod " + who();
        tellOnce(SANDBOX, dead.get(), "Warning", "Back-off " + what);
        String message = "back-off " + last.pause().text() + " " + what;
        waiting.replaceAll((name, why) -> new Decision.Waiting(
                observed.newest(name).isPresent() ? Reasons.CRASH_LOOP_BACK_OFF : why.reason(), message));
        wake(until);
        return true;
    }

    /** Starts a container unless it must wait. */
    private void start(ContainerSpec container) {
        String name = container.name();
        Optional<ContainerStatus> before = observed.newest(name);
        if (before.filter(status -> status.state() != ContainerState.EXITED).isPresent()) {
            // It was created but not started, by an agent that ended in between; its name is in use.
            if (!isBlocked()) {
                commands.add(PodCommand.RemoveContainer.of(before.get()));
            }
            return;
        }
        Optional<PodMemory.Problem> problem = memory.problem(container);
        if (problem.filter(last -> last.waits(now)).isPresent()) {
            waiting.put(name, waiting(container, problem.get()));
            wake(problem.get().retryAt());
            return;
        }
        if (before.isPresent()) {
            PodMemory.Restart last = memory.restart(container);
            Instant restarted = last.pause().updated();
            Instant shown = Observed.time(before.get().finishedAtNanos());
            // A runtime may not know when a container ended; it was not before its start.
            Instant ended = shown.isBefore(restarted) ? restarted : shown;
            Instant until = last.pause().until(ended, now);
            // A start that was decided and failed before there was a new container does not wait twice.
            boolean decided = last.after().equals(before.get().id());
            if (!decided && until.isAfter(now)) {
                backOff(container, before.get(), last.pause());
                wake(until);
                return;
            }
            if (!decided) {
                memory = memory.restarted(container, before.get().id(), ended, now);
            }
        }
        int attempt = before.map(PodLabels::restartCount).orElse(-1) + 1;
        commands.add(new PodCommand.StartContainer(
                container, observed.sandbox().orElseThrow().id(), attempt, target(container)));
    }

    private Decision.Waiting waiting(ContainerSpec container, PodMemory.Problem problem) {
        Decision.Waiting error = new Decision.Waiting(problem.reason(), problem.message());
        if (!problem.reason().equals(Reasons.ERR_IMAGE_PULL)) {
            return error;
        }
        // The status shows the error itself for a moment, then that the pull waits.
        Instant shown = memory.pulls()
                .getOrDefault(container.image(), Pause.NONE)
                .updated()
                .plus(PULL_ERROR_SHOWN);
        if (shown.isAfter(now)) {
            wake(shown);
            return error;
        }
        String text = "Back-off pulling image \"" + container.image() + "\"";
        tellOnce(container.name(), "pull " + problem.failures(), "Normal", text);
        return new Decision.Waiting(
                Reasons.IMAGE_PULL_BACK_OFF, text + ": " + problem.reason() + ": " + problem.message());
    }

    private void backOff(ContainerSpec container, ContainerStatus before, Pause pause) {
        tellOnce(
                container.name(),
                before.id(),
                "Warning",
                "Back-off restarting failed container " + container.name() + " in pod " + who());
        waiting.put(
                container.name(),
                new Decision.Waiting(
                        Reasons.CRASH_LOOP_BACK_OFF,
                        "back-off " + pause.text() + " restarting failed container=" + container.name() + " pod="
                                + who()));
    }

    private String who() {
        return pod.name() + "_" + pod.namespace() + "(" + pod.uid() + ")";
    }

    private void tellOnce(String container, String occasion, String type, String text) {
        if (!occasion.equals(memory.waited().get(container))) {
            events.add(new Decision.Event(type, "BackOff", text));
            memory = memory.waiting(container, occasion);
        }
    }

    /** Removes what is of no use any more, one after another. Nothing that it has may run. */
    private Leftovers tidy() {
        Leftovers left = Leftovers.of(observed);
        removal = left.removal(memory.stopped());
        if (removal.isPresent() && waits(PodMemory.LEFTOVERS)) {
            removal = Optional.empty();
        }
        return left;
    }

    /** Commands that stop whatever runs; false if nothing does. */
    private boolean stopAll() {
        List<PodSandbox> sandboxes = observed.sandboxes().stream()
                .map(PodSandboxStatus::sandbox)
                .filter(sandbox -> !memory.stopped().contains(sandbox.id()))
                .toList();
        // Once its sandbox has stopped, a container of unknown state has ended, too.
        List<PodCommand.Kill> kills = observed.containers().stream()
                .filter(container -> container.state() == ContainerState.RUNNING
                        || Observed.mayRun(container) && !sandboxes.isEmpty())
                .map(PodSync::kill)
                .toList();
        if (kills.isEmpty() && sandboxes.isEmpty()) {
            return false;
        }
        if (!isBlocked()) {
            if (!kills.isEmpty()) {
                commands.add(new PodCommand.KillContainers(kills, grace()));
            }
            sandboxes.forEach(sandbox -> commands.add(new PodCommand.StopSandbox(sandbox.id())));
        }
        return true;
    }

    /** The time that containers have to end. What is not known of a pod that no source has, its containers say. */
    private Duration grace() {
        Duration own = pod.containers().isEmpty()
                ? observed.containers().stream()
                        .flatMap(container -> PodLabels.grace(container).stream())
                        .findFirst()
                        .orElse(wanted.grace())
                : wanted.grace();
        return wanted.within(own);
    }

    /**
     * Stops a pod of which nothing will run again. Its volumes go; its newest containers and their logs stay until it is deleted.
     */
    private void stopForGood() {
        stopsForGood = true;
        if (!stopAll()) {
            tidy();
        }
    }

    /** Ends everything of the pod. */
    private void end() {
        if (isBlocked() || stopAll()) {
            return;
        }
        observed.containers().forEach(container -> commands.add(PodCommand.RemoveContainer.of(container)));
        observed.sandboxes()
                .forEach(status -> commands.add(
                        new PodCommand.RemoveSandbox(status.sandbox().id())));
        if (!commands.isEmpty()) {
            return;
        }
        if (!memory.cleaned()) {
            commands.add(new PodCommand.CleanUp());
        } else if (wanted.inApi() && !memory.deleted()) {
            commands.add(new PodCommand.DeleteFromApi());
        }
    }

    private Set<String> initNames() {
        return pod.initContainers().stream().map(ContainerSpec::name).collect(Collectors.toSet());
    }

    /** Whether the last command for the pod as a whole failed a moment ago. */
    private boolean isBlocked() {
        return waits(PodMemory.POD);
    }

    /** Whether it is too early to try again what the problem with that key is about. */
    private boolean waits(String problem) {
        Optional<Instant> retry =
                memory.problem(problem).filter(last -> last.waits(now)).map(PodMemory.Problem::retryAt);
        retry.ifPresent(this::wake);
        return retry.isPresent();
    }

    private boolean restarts(ContainerStatus ended) {
        if (ended.state() == ContainerState.CREATED || memory.isReplaced(ended)) {
            return true;
        }
        return switch (pod.restartPolicy()) {
            case ALWAYS -> true;
            case ON_FAILURE -> ended.exitCode() != 0;
            case NEVER -> false;
        };
    }

    private static PodCommand.Kill kill(ContainerStatus container) {
        return new PodCommand.Kill(container.id(), container.name(), "Stopping container " + container.name());
    }

    private void wake(Instant at) {
        wakeAt = wakeAt.filter(earlier -> earlier.isBefore(at)).or(() -> Optional.of(at));
    }
}
