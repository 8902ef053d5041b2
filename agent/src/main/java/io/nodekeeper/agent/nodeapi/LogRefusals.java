package io.nodekeeper.agent.nodeapi;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.JsonObject;

/** Why a container has no log, in the kubelet's words. */
final class LogRefusals {
    private LogRefusals() {}

    /** The reason for {@code container} of {@code pod}. */
    static String text(Pod pod, String container, boolean previous) {
        String place = "container \"" + container + "\" in pod \"" + pod.name() + "\"";
        if (previous) {
            return "previous terminated " + place + " not found";
        }
        JsonObject status = pod.reported(container);
        String reason = status.object("state").object("waiting").text("reason");
        return switch (reason) {
            case "ErrImagePull" -> place + " is waiting to start: image can't be pulled";
            case "ImagePullBackOff" -> place + " is waiting to start: trying and failing to pull image";
            case "" -> status.isEmpty() ? place + " is not available" : place + " is waiting to start - no logs yet";
            default -> place + " is waiting to start: " + reason;
        };
    }
}
