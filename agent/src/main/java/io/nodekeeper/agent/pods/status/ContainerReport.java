package io.nodekeeper.agent.pods.status;

import io.nodekeeper.agent.pods.containers.PodLabels;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.sync.Decision;
import io.nodekeeper.agent.pods.sync.Observed;
import io.nodekeeper.agent.pods.sync.Reasons;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import java.util.Optional;

/**
 * One entry of {@code status.containerStatuses}. Immutable.
 *
 * @param json the entry
 * @param stage what it counts as for the pod's phase
 */
record ContainerReport(JsonObject json, Stage stage) {
    /** The exit code that a kubelet reports for a container that ended unobserved. */
    private static final int UNKNOWN_EXIT = 137;

    /** What a container counts as. */
    enum Stage {
        /** It has not started yet. */
        WAITING,
        /** It runs. */
        RUNNING,
        /** It ended with 0. */
        SUCCEEDED,
        /** It ended with an error. */
        FAILED
    }

    boolean isReady() {
        return stage == Stage.RUNNING;
    }

    /**
     * The entry for {@code container}.
     *
     * @param waiting why it does not run, if it shall
     * @param runtime the runtime's name, such as {@code containerd}
     * @param before the last reported entry of that container; empty without one
     */
    static ContainerReport of(
            ContainerSpec container,
            Observed observed,
            Optional<Decision.Waiting> waiting,
            String runtime,
            JsonObject before) {
        Optional<ContainerStatus> newest = observed.newest(container.name());
        // A container that starts again in a moment is shown as ended, as by a kubelet.
        boolean delayed = waiting.map(Decision.Waiting::reason)
                .filter(reason -> !reason.equals(Reasons.CONTAINER_CREATING))
                .isPresent();
        boolean waits = newest.isEmpty()
                || newest.get().state() == ContainerState.CREATED
                || newest.get().state() == ContainerState.EXITED && delayed;
        Optional<ContainerStatus> last = newest.flatMap(current -> waits && current.state() == ContainerState.EXITED
                ? Optional.of(current)
                : observed.ended(container.name(), current.id()));
        JsonObject lastState = last.map(ended -> terminated(ended, runtime))
                .orElseGet(() -> newest.isPresent() ? JsonObject.EMPTY : lastState(before));
        JsonObject state = waits
                ? waiting(waiting.orElseGet(() -> new Decision.Waiting(Reasons.CONTAINER_CREATING, "")))
                : state(newest.orElseThrow(), runtime);
        boolean running = state.has("running");
        JsonObject.Builder entry = JsonObject.builder()
                .put("name", container.name())
                .put("state", state)
                .put("lastState", lastState)
                .put("ready", running)
                .put(
                        "restartCount",
                        newest.map(PodLabels::restartCount)
                                .map(Integer::longValue)
                                .or(() -> before.number("restartCount"))
                                .orElse(0L))
                .put(
                        "image",
                        newest.map(status -> status.origin().image())
                                .filter(image -> !image.isEmpty())
                                .orElse(container.image()))
                .put("imageID", newest.map(status -> status.origin().imageRef()).orElse(""));
        newest.ifPresent(status -> entry.put("containerID", runtime + "://" + status.id()));
        entry.put("started", running);
        return new ContainerReport(entry.build(), stage(state, lastState));
    }

    private static Stage stage(JsonObject state, JsonObject lastState) {
        JsonObject ended = state.has("terminated") ? state : lastState;
        if (state.has("running")) {
            return Stage.RUNNING;
        }
        if (!ended.has("terminated")) {
            return Stage.WAITING;
        }
        return ended.object("terminated").number("exitCode").orElse(0L) == 0 ? Stage.SUCCEEDED : Stage.FAILED;
    }

    /** The runtime no longer has the container: what is known of its end, or that nothing is. */
    private static JsonObject lastState(JsonObject before) {
        if (before.object("state").has("terminated")) {
            return before.object("state");
        }
        if (!before.object("state").has("running")) {
            return before.object("lastState");
        }
        return state(
                "terminated",
                JsonObject.builder()
                        .put("exitCode", UNKNOWN_EXIT)
                        .put("reason", "ContainerStatusUnknown")
                        .put("message", "The container could not be located when the pod was terminated")
                        .build());
    }

    private static JsonObject state(ContainerStatus status, String runtime) {
        return switch (status.state()) {
            case RUNNING ->
                state(
                        "running",
                        JsonObject.builder()
                                .put("startedAt", time(status.startedAtNanos()))
                                .build());
            case EXITED -> terminated(status, runtime);
            case CREATED, UNKNOWN -> waiting(new Decision.Waiting(Reasons.CONTAINER_CREATING, ""));
        };
    }

    private static JsonObject terminated(ContainerStatus status, String runtime) {
        String reason = status.reason().isEmpty() ? status.exitCode() == 0 ? "Completed" : "Error" : status.reason();
        return state(
                "terminated",
                JsonObject.builder()
                        .put("exitCode", status.exitCode())
                        .put("reason", reason)
                        .putUnlessEmpty("message", status.message())
                        .put("startedAt", time(status.startedAtNanos()))
                        .put("finishedAt", time(status.finishedAtNanos()))
                        .put("containerID", runtime + "://" + status.id())
                        .build());
    }

    private static JsonObject waiting(Decision.Waiting waiting) {
        return state(
                "waiting",
                JsonObject.builder()
                        .put("reason", waiting.reason())
                        .putUnlessEmpty("message", waiting.message())
                        .build());
    }

    private static JsonObject state(String name, JsonObject content) {
        return JsonObject.builder().put(name, content).build();
    }

    private static String time(long nanos) {
        return KubeTime.format(Observed.time(nanos));
    }
}
