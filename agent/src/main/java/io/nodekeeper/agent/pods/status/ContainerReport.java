package io.nodekeeper.agent.pods.status;

import io.nodekeeper.agent.pods.containers.PodLabels;
import io.nodekeeper.agent.pods.model.ContainerHealth;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.sync.Decision;
import io.nodekeeper.agent.pods.sync.Observed;
import io.nodekeeper.agent.pods.sync.Reasons;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/**
 * One entry of {@code status.containerStatuses} or {@code status.initContainerStatuses}. Immutable.
 *
 * @param json the entry
 * @param stage what it counts as for the pod's phase
 */
record ContainerReport(JsonObject json, Stage stage) {
    /** What a kubelet reports for a container that ended unobserved, or never started. */
    private static final JsonObject UNKNOWN_END = state(
            "terminated",
            JsonObject.builder()
                    .put("exitCode", 137)
                    .put("reason", "ContainerStatusUnknown")
                    .put("message", "The container could not be located when the pod was terminated")
                    .build());

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
        return json.bool("ready");
    }

    boolean isStarted() {
        return json.bool("started");
    }

    /** The entry once the container will not start any more: it has its last end, or one of which nothing is known. */
    ContainerReport ended() {
        if (!json.object("state").has("waiting")) {
            return this;
        }
        JsonObject last = json.object("lastState");
        JsonObject end = last.has("terminated") ? last : UNKNOWN_END;
        return new ContainerReport(
                json.toBuilder()
                        .put("state", end)
                        .put("lastState", JsonObject.EMPTY)
                        .build(),
                stage(end, JsonObject.EMPTY));
    }

    /**
     * What is known about all containers of a pod. Immutable.
     *
     * @param health of running containers, by the runtime's id; those that are missing have no probes
     * @param runtime the runtime's name, such as {@code containerd}
     * @param creating why a container waits of which nothing else is known
     * @param mostMessage the most bytes of the message of an end
     */
    record Known(
            Observed observed, Map<String, ContainerHealth> health, String runtime, String creating, int mostMessage) {}

    /** The entry for an ephemeral container, which is never ready, because no probe asks. */
    static ContainerReport ofEphemeral(
            ContainerSpec container, Known known, Optional<Decision.Waiting> waiting, JsonObject before) {
        ContainerReport report = of(container, known, waiting, before);
        return new ContainerReport(report.json.with("ready", JsonBool.FALSE).without("started"), report.stage);
    }

    /**
     * The entry for an init container that is not a sidecar, of a pod whose main containers have begun or not. It is ready once
     * it has succeeded. One that the runtime has forgotten must have succeeded if main containers have begun.
     */
    static ContainerReport ofInit(
            ContainerSpec container,
            Known known,
            Optional<Decision.Waiting> waiting,
            JsonObject before,
            boolean begun) {
        ContainerReport report = of(container, known, waiting, before);
        if (begun && known.observed().newest(container.name()).isEmpty()) {
            JsonObject ended = before.object("state").has("terminated")
                    ? before.object("state")
                    : state(
                            "terminated",
                            JsonObject.builder()
                                    .put("exitCode", 0)
                                    .put("reason", "Completed")
                                    .put(
                                            "message",
                                            "Unable to get init container status from container runtime and pod has been"
                                                    + " initialized, treat it as exited normally")
                                    .build());
            report = new ContainerReport(
                    report.json.toBuilder().put("state", ended).build(), stage(ended, JsonObject.EMPTY));
        }
        JsonObject ended = report.json.object("state").object("terminated");
        boolean ready = ended.number("exitCode").filter(code -> code == 0).isPresent();
        return new ContainerReport(report.json.toBuilder().put("ready", ready).build(), report.stage);
    }

    /**
     * The entry for a main container or a sidecar.
     *
     * @param waiting why it does not run, if it shall
     * @param before the last reported entry of that container; empty without one
     */
    static ContainerReport of(
            ContainerSpec container, Known known, Optional<Decision.Waiting> waiting, JsonObject before) {
        Observed observed = known.observed();
        String runtime = known.runtime();
        Optional<ContainerStatus> newest = observed.newest(container.name());
        // A container that starts again in a moment is shown as ended, as by a kubelet.
        boolean delayed = waiting.map(Decision.Waiting::reason)
                .filter(reason -> !reason.equals(known.creating()))
                .isPresent();
        boolean waits = newest.isEmpty()
                || newest.get().state() == ContainerState.CREATED
                || newest.get().state() == ContainerState.EXITED && delayed;
        Optional<ContainerStatus> last = newest.flatMap(current -> waits && current.state() == ContainerState.EXITED
                ? Optional.of(current)
                : observed.ended(container.name(), current.id()));
        JsonObject lastState = last.map(ended -> terminated(ended, known))
                .orElseGet(() -> newest.isPresent() ? JsonObject.EMPTY : lastState(before));
        JsonObject state = waits
                ? waiting(waiting.orElseGet(() -> new Decision.Waiting(known.creating(), "")))
                : state(newest.orElseThrow(), known);
        boolean running = state.has("running");
        ContainerHealth health =
                newest.map(status -> known.health().get(status.id())).orElse(ContainerHealth.GOOD);
        JsonObject.Builder entry = JsonObject.builder()
                .put("name", container.name())
                .put("state", state)
                .put("lastState", lastState)
                .put("ready", running && health.started() && health.ready())
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
        entry.put("started", running && health.started());
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
        return UNKNOWN_END;
    }

    private static JsonObject state(ContainerStatus status, Known known) {
        return switch (status.state()) {
            case RUNNING ->
                state(
                        "running",
                        JsonObject.builder()
                                .put("startedAt", time(status.startedAtNanos()))
                                .build());
            case EXITED -> terminated(status, known);
            case CREATED, UNKNOWN -> waiting(new Decision.Waiting(Reasons.CONTAINER_CREATING, ""));
        };
    }

    private static JsonObject terminated(ContainerStatus status, Known known) {
        String reason = status.reason().isEmpty() ? status.exitCode() == 0 ? "Completed" : "Error" : status.reason();
        return state(
                "terminated",
                JsonObject.builder()
                        .put("exitCode", status.exitCode())
                        .put("reason", reason)
                        .putUnlessEmpty("message", cut(status.message(), known.mostMessage()))
                        .put("startedAt", time(status.startedAtNanos()))
                        .put("finishedAt", time(status.finishedAtNanos()))
                        .put("containerID", known.runtime() + "://" + status.id())
                        .build());
    }

    /** The first whole characters of at most {@code most} bytes. */
    private static String cut(String text, int most) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int end = Math.min(most, bytes.length);
        while (end > 0 && end < bytes.length && (bytes[end] & 0xc0) == 0x80) {
            end--;
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
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
