package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.pods.PodConditions;
import java.util.List;
import java.util.Optional;

/** Computes the derived table columns of a pod, as Kubernetes does. */
final class PodColumns {
    private PodColumns() {}

    /** The status column: the reason of the first container that is not running, or the phase. */
    static String status(JsonObject pod) {
        JsonObject status = pod.object("status");
        if (pod.object("metadata").has("deletionTimestamp")) {
            return status.text("reason").equals("NodeLost") ? "Unknown" : "Terminating";
        }
        return initializing(pod).orElseGet(() -> running(status));
    }

    /** The progress of the init containers; empty when they have finished. */
    private static Optional<String> initializing(JsonObject pod) {
        List<JsonObject> containers =
                pod.object("status").array("initContainerStatuses").objects().toList();
        for (int i = 0; i < containers.size(); i++) {
            JsonObject state = containers.get(i).object("state");
            JsonObject ended = state.object("terminated");
            // A sidecar container does not block the others after it has started.
            boolean done = state.has("terminated") && ended.number("exitCode").orElse(0L) == 0
                    || containers.get(i).bool("started");
            if (done) {
                continue;
            }
            String waits = state.object("waiting").text("reason");
            if (state.has("terminated")) {
                return Optional.of("Init:" + why(ended));
            }
            return Optional.of(
                    waits.isEmpty() || waits.equals("PodInitializing")
                            ? "Init:" + i + "/"
                                    + pod.object("spec")
                                            .array("initContainers")
                                            .items()
                                            .size()
                            : "Init:" + waits);
        }
        return Optional.empty();
    }

    private static String running(JsonObject status) {
        String word = status.text("reason").isEmpty() ? status.text("phase") : status.text("reason");
        boolean runs = false;
        for (JsonObject container :
                status.array("containerStatuses").objects().toList().reversed()) {
            JsonObject state = container.object("state");
            if (!state.object("waiting").text("reason").isEmpty()) {
                word = state.object("waiting").text("reason");
            } else if (state.has("terminated")) {
                word = why(state.object("terminated"));
            } else if (container.bool("ready") && state.has("running")) {
                runs = true;
            }
        }
        if (!word.equals("Completed") || !runs) {
            return word;
        }
        return PodConditions.isReady(status) ? "Running" : "NotReady";
    }

    private static String why(JsonObject terminated) {
        if (!terminated.text("reason").isEmpty()) {
            return terminated.text("reason");
        }
        long signal = terminated.number("signal").orElse(0L);
        return signal != 0
                ? "Signal:" + signal
                : "ExitCode:" + terminated.number("exitCode").orElse(0L);
    }

    /** How many of the conditions that others set are met. */
    static String readinessGates(JsonObject pod) {
        List<String> gates = pod.object("spec")
                .array("readinessGates")
                .objects()
                .map(gate -> gate.text("conditionType"))
                .toList();
        long met = pod.object("status")
                .array("conditions")
                .objects()
                .filter(condition -> condition.text("status").equals("True"))
                .filter(condition -> gates.contains(condition.text("type")))
                .count();
        return gates.isEmpty() ? "<none>" : met + "/" + gates.size();
    }
}
