package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.agent.pleg.PodRef;
import io.nodekeeper.agent.pleg.PodStatus;
import io.nodekeeper.agent.pods.containers.PodLabels;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.PodSandboxStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * One pod in a runtime that obeys CRI's rules: names are reserved until they are removed, a container needs a ready
 * sandbox, and a sandbox that stops ends its containers. Effects of commands happen at the time that the test chooses.
 */
final class SimulatedPod {
    static final String UID = "u1";

    private final List<Sandbox> sandboxes = new ArrayList<>();
    private final List<Box> boxes = new ArrayList<>();
    private final Set<String> missingImages = new HashSet<>();
    private int made;
    /** The exit code of containers that are killed. */
    int killed = 143;
    /** Whether sandboxes cannot be started; each leaves something. */
    boolean sandboxFails;
    /** Whether sandboxes cannot be stopped. */
    boolean stopFails;
    /** Whether neither sandboxes nor containers can be removed. */
    boolean removeFails;

    boolean deletedFromApi;
    boolean cleaned;

    private static final class Sandbox {
        private final String id;
        private final int attempt;
        private boolean ready = true;

        private Sandbox(String id, int attempt) {
            this.id = id;
            this.attempt = attempt;
        }
    }

    private static final class Box {
        private final String id;
        private final String sandbox;
        private final ContainerSpec spec;
        private final int attempt;
        private ContainerState state = ContainerState.CREATED;
        private Instant started = Instant.EPOCH;
        private Instant finished = Instant.EPOCH;
        private int exit;

        private Box(String id, String sandbox, ContainerSpec spec, int attempt) {
            this.id = id;
            this.sandbox = sandbox;
            this.spec = spec;
            this.attempt = attempt;
        }
    }

    /** Pulls of that image fail. */
    void missing(String image) {
        missingImages.add(image);
    }

    /** Pulls of that image succeed. */
    void available(String image) {
        missingImages.remove(image);
    }

    /** The effect of a command, all at once. */
    Outcome apply(PodCommand command, Instant now) {
        return switch (command) {
            case PodCommand.Prepare prepare -> new Outcome.Done();
            case PodCommand.CreateSandbox(int attempt) -> sandbox(attempt);
            case PodCommand.StopSandbox stop
            when stopFails -> new Outcome.Failed("Failed", "the network cannot be removed");
            case PodCommand.StopSandbox(String id) -> {
                sandboxes.stream().filter(box -> box.id.equals(id)).forEach(box -> box.ready = false);
                boxes.stream().filter(box -> box.sandbox.equals(id)).forEach(box -> end(box, 137, now));
                yield new Outcome.Done();
            }
            case PodCommand.RemoveSandbox remove when removeFails -> new Outcome.Failed("Failed", "the disk hangs");
            case PodCommand.RemoveContainer remove when removeFails -> new Outcome.Failed("Failed", "the disk hangs");
            case PodCommand.RemoveSandbox(String id) -> {
                boxes.removeIf(box -> box.sandbox.equals(id));
                sandboxes.removeIf(sandbox -> sandbox.id.equals(id));
                yield new Outcome.Done();
            }
            case PodCommand.StartContainer start -> start(start, now);
            case PodCommand.KillContainers kill -> {
                kill.containers().forEach(each -> exit(each.id(), killed, now));
                yield new Outcome.Done();
            }
            case PodCommand.RemoveContainer remove -> {
                boxes.removeIf(box -> box.id.equals(remove.id()));
                yield new Outcome.Done();
            }
            case PodCommand.CleanUp clean -> {
                cleaned = true;
                yield new Outcome.Done();
            }
            case PodCommand.DeleteFromApi delete -> {
                if (!isEmpty()) {
                    throw new AssertionError("deleted from the API while " + status() + " is left");
                }
                deletedFromApi = true;
                yield new Outcome.Done();
            }
        };
    }

    /** The start of a container that ends between its creation and its start. */
    void createOnly(PodCommand.StartContainer start) {
        if (isReady(start.sandbox()) && !isReserved(start)) {
            boxes.add(new Box("c" + ++made, start.sandbox(), start.container(), start.attempt()));
        }
    }

    private Outcome sandbox(int attempt) {
        if (sandboxes.stream().anyMatch(sandbox -> sandbox.attempt == attempt)) {
            return new Outcome.Failed("Failed", "name is reserved for attempt " + attempt);
        }
        Sandbox sandbox = new Sandbox("s" + ++made, attempt);
        sandbox.ready = !sandboxFails;
        sandboxes.add(sandbox);
        return sandboxFails ? new Outcome.Failed("Failed", "no network") : new Outcome.Done();
    }

    private Outcome start(PodCommand.StartContainer start, Instant now) {
        if (missingImages.contains(start.container().image())) {
            return new Outcome.Failed(Reasons.ERR_IMAGE_PULL, "no such image");
        }
        if (!isReady(start.sandbox())) {
            return new Outcome.Failed(Reasons.CREATE_CONTAINER_ERROR, "sandbox is not ready");
        }
        if (isReserved(start)) {
            return new Outcome.Failed(Reasons.CREATE_CONTAINER_ERROR, "name is reserved");
        }
        boolean second = boxes.stream()
                .anyMatch(
                        box -> box.spec.name().equals(start.container().name()) && box.state == ContainerState.RUNNING);
        if (second) {
            throw new AssertionError("a second container " + start.container().name() + " is started: " + status());
        }
        boolean main = !start.container().image().equals("p:1")
                && !start.container().image().equals("s:1");
        boolean hasInit = boxes.stream().anyMatch(box -> box.spec.name().equals("setup"));
        boolean initialized = boxes.stream()
                .anyMatch(box -> box.spec.name().equals("setup")
                        && box.sandbox.equals(start.sandbox())
                        && box.state == ContainerState.EXITED
                        && box.exit == 0);
        if (main && hasInit && !initialized) {
            throw new AssertionError(start.container().name() + " is started before its init container: " + status());
        }
        Box box = new Box("c" + ++made, start.sandbox(), start.container(), start.attempt());
        box.state = ContainerState.RUNNING;
        box.started = now;
        boxes.add(box);
        return new Outcome.Done();
    }

    private boolean isReady(String id) {
        return sandboxes.stream().anyMatch(sandbox -> sandbox.id.equals(id) && sandbox.ready);
    }

    private boolean isReserved(PodCommand.StartContainer start) {
        return boxes.stream()
                .anyMatch(box -> box.spec.name().equals(start.container().name()) && box.attempt == start.attempt());
    }

    /** The running container of that name ends. */
    void exitRunning(String name, int code, Instant now) {
        boxes.stream()
                .filter(box -> box.spec.name().equals(name) && box.state == ContainerState.RUNNING)
                .forEach(box -> end(box, code, now));
    }

    private void exit(String id, int code, Instant now) {
        boxes.stream().filter(box -> box.id.equals(id)).forEach(box -> end(box, code, now));
    }

    private static void end(Box box, int code, Instant now) {
        if (box.state == ContainerState.RUNNING) {
            box.state = ContainerState.EXITED;
            box.finished = now;
            box.exit = code;
        }
    }

    /** The runtime no longer has the containers of that name. */
    void forget(String name) {
        boxes.removeIf(box -> box.spec.name().equals(name));
    }

    /** The newest sandbox ends, with all that runs in it. */
    void sandboxDies(Instant now) {
        sandboxes.stream().filter(sandbox -> sandbox.ready).forEach(sandbox -> {
            sandbox.ready = false;
            boxes.stream().filter(box -> box.sandbox.equals(sandbox.id)).forEach(box -> end(box, 255, now));
        });
    }

    /** The newest sandbox ends, and what runs in it goes on. */
    void sandboxAloneDies() {
        sandboxes.forEach(sandbox -> sandbox.ready = false);
    }

    boolean isEmpty() {
        return sandboxes.isEmpty() && boxes.isEmpty();
    }

    /** Whether a container of that name runs. */
    boolean runs(String name) {
        return boxes.stream().anyMatch(box -> box.spec.name().equals(name) && box.state == ContainerState.RUNNING);
    }

    /** The image of the running container of that name. */
    Optional<String> image(String name) {
        return boxes.stream()
                .filter(box -> box.spec.name().equals(name) && box.state == ContainerState.RUNNING)
                .map(box -> box.spec.image())
                .findFirst();
    }

    /** When each container of that name that is still there was started, in order. */
    List<Duration> starts(String name) {
        return boxes.stream()
                .filter(box -> box.spec.name().equals(name))
                .map(box -> Duration.between(Instant.EPOCH, box.started))
                .toList();
    }

    int sandboxes() {
        return sandboxes.size();
    }

    int containers() {
        return boxes.size();
    }

    /** What a kubelet would observe. */
    PodStatus status() {
        List<PodSandboxStatus> shown = sandboxes.stream()
                .sorted(Comparator.comparingInt((Sandbox sandbox) -> sandbox.attempt)
                        .reversed())
                .map(sandbox -> new PodSandboxStatus(
                        new PodSandbox(sandbox.id, UID, "web", "shop", sandbox.attempt, sandbox.ready, 1),
                        sandbox.ready ? List.of("10.1.0.7") : List.of()))
                .toList();
        List<ContainerStatus> containers = boxes.stream()
                .map(box -> new ContainerStatus(
                        box.id,
                        box.spec.name(),
                        box.state,
                        nanos(box.started),
                        nanos(box.finished),
                        box.exit,
                        "",
                        "",
                        new ContainerStatus.Origin(
                                box.attempt,
                                made,
                                box.spec.image(),
                                "sha256:1",
                                Map.of(
                                        PodLabels.HASH,
                                        PodLabels.hash(box.spec),
                                        PodLabels.RESTART_COUNT,
                                        Integer.toString(box.attempt)))))
                .toList();
        boolean ready = !shown.isEmpty() && shown.getFirst().sandbox().ready();
        return new PodStatus(
                new PodRef(UID, "web", "shop"),
                ready ? List.of("10.1.0.7") : List.of(),
                shown,
                containers,
                boxes.stream().collect(Collectors.toMap(box -> box.id, box -> box.sandbox)));
    }

    private static long nanos(Instant time) {
        return Duration.between(Instant.EPOCH, time).toNanos();
    }
}
