package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.pods.PodConditions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Computes the derived table columns of a pod, as Kubernetes does. Init containers run one after the other, and the
 * first that is not done blocks the pod. A sidecar, an init container with restart policy {@code Always}, is done as
 * soon as it has started, and from then on counts like the other containers. Immutable.
 */
final class PodColumns {
    private final JsonObject pod;
    private final JsonObject status;
    private final Set<String> sidecars;
    private final List<JsonObject> initContainers;
    private final List<JsonObject> containers;
    /** How many init containers are done before the first that is not. */
    private final int done;

    PodColumns(JsonObject pod) {
        this.pod = pod;
        status = pod.object("status");
        sidecars = pod.object("spec")
                .array("initContainers")
                .objects()
                .filter(container -> container.text("restartPolicy").equals("Always"))
                .map(container -> container.text("name"))
                .collect(Collectors.toSet());
        initContainers = status.array("initContainerStatuses").objects().toList();
        containers = status.array("containerStatuses").objects().toList();
        done = (int) initContainers.stream().takeWhile(this::isDone).count();
    }

    /** How many containers are ready, of how many. */
    String ready() {
        long ready = initContainers.subList(0, done).stream()
                .filter(container -> !hasSucceeded(container) && container.bool("ready"))
                .count();
        if (isInitialized()) {
            ready += containers.stream().filter(PodColumns::isRunning).count();
        }
        int all = pod.object("spec").array("containers").items().size() + sidecars.size();
        return ready + "/" + all;
    }

    /** The reason of the first container that is not running, or the pod's reason or phase. */
    String status() {
        boolean deleted = pod.object("metadata").has("deletionTimestamp");
        String phase = status.text("phase");
        if (deleted && status.text("reason").equals("NodeLost")) {
            return "Unknown";
        }
        if (deleted && !phase.equals("Succeeded") && !phase.equals("Failed")) {
            return "Terminating";
        }
        if (!isInitialized()) {
            return progress();
        }
        String word = containers.stream()
                .map(PodColumns::why)
                .filter(why -> !why.isEmpty())
                .findFirst()
                .orElseGet(this::progress);
        if (!word.equals("Completed") || containers.stream().noneMatch(PodColumns::isRunning)) {
            return word;
        }
        return PodConditions.isReady(status) ? "Running" : "NotReady";
    }

    /** How often containers were restarted, and how long ago the last of them ended: {@code 3 (5m ago)}. */
    String restarts(Instant now) {
        List<JsonObject> counted =
                new ArrayList<>(initContainers.subList(0, Math.min(done + 1, initContainers.size())));
        if (isInitialized()) {
            counted.removeIf(container -> !isSidecar(container));
            counted.addAll(containers);
        }
        long restarts = counted.stream()
                .mapToLong(container -> container.number("restartCount").orElse(0L))
                .sum();
        Optional<Instant> last = counted.stream()
                .map(container ->
                        container.object("lastState").object("terminated").text("finishedAt"))
                .flatMap(finished -> KubeTime.parse(finished).stream())
                .max(Comparator.naturalOrder());
        return last.filter(ended -> restarts > 0)
                .map(ended -> restarts + " (" + CellText.age(Duration.between(ended, now)) + " ago)")
                .orElseGet(() -> Long.toString(restarts));
    }

    /** The first address. */
    static String ip(JsonObject pod) {
        JsonObject status = pod.object("status");
        String ip = status.text("podIP");
        return CellText.orNone(
                ip.isEmpty()
                        ? status.array("podIPs")
                                .objects()
                                .findFirst()
                                .map(first -> first.text("ip"))
                                .orElse("")
                        : ip);
    }

    /** How many of the conditions that others set are met. */
    static String readinessGates(JsonObject pod) {
        List<JsonObject> gates =
                pod.object("spec").array("readinessGates").objects().toList();
        Set<String> met = pod.object("status")
                .array("conditions")
                .objects()
                .filter(condition -> condition.text("status").equals("True"))
                .map(condition -> condition.text("type"))
                .collect(Collectors.toSet());
        long open = gates.stream()
                .filter(gate -> met.contains(gate.text("conditionType")))
                .count();
        return gates.isEmpty() ? "<none>" : open + "/" + gates.size();
    }

    private boolean isSidecar(JsonObject container) {
        return sidecars.contains(container.text("name"));
    }

    private boolean isDone(JsonObject container) {
        return hasSucceeded(container) || isSidecar(container) && container.bool("started");
    }

    private static boolean hasSucceeded(JsonObject container) {
        JsonObject state = container.object("state");
        return state.has("terminated")
                && state.object("terminated").number("exitCode").orElse(0L) == 0;
    }

    /** Whether the containers after the init containers count: they also do while a sidecar starts again. */
    private boolean isInitialized() {
        return done == initContainers.size()
                || status.array("conditions")
                        .objects()
                        .anyMatch(condition -> condition.text("type").equals("Initialized")
                                && condition.text("status").equals("True"));
    }

    /** How far the pod is before its containers run: what the first init container waits for, or reason or phase. */
    private String progress() {
        if (done < initContainers.size()) {
            String why = why(initContainers.get(done));
            int all = pod.object("spec").array("initContainers").items().size();
            return why.isEmpty() || why.equals("PodInitializing") ? "Init:" + done + "/" + all : "Init:" + why;
        }
        boolean gated = status.array("conditions")
                .objects()
                .anyMatch(condition -> condition.text("type").equals("PodScheduled")
                        && condition.text("reason").equals("SchedulingGated"));
        if (gated) {
            return "SchedulingGated";
        }
        return status.text("reason").isEmpty() ? status.text("phase") : status.text("reason");
    }

    private static boolean isRunning(JsonObject container) {
        return container.bool("ready")
                && container.object("state").has("running")
                && why(container).isEmpty();
    }

    /** Why the container does not run; empty if it runs, or waits without a reason. */
    private static String why(JsonObject container) {
        JsonObject state = container.object("state");
        String waits = state.object("waiting").text("reason");
        if (!waits.isEmpty() || !state.has("terminated")) {
            return waits;
        }
        JsonObject ended = state.object("terminated");
        if (!ended.text("reason").isEmpty()) {
            return ended.text("reason");
        }
        long signal = ended.number("signal").orElse(0L);
        return signal != 0
                ? "Signal:" + signal
                : "ExitCode:" + ended.number("exitCode").orElse(0L);
    }
}
