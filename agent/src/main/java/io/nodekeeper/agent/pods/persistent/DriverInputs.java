package io.nodekeeper.agent.pods.persistent;

import io.nodekeeper.agent.csi.CsiDriver;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.objects.ObjectCache;
import io.nodekeeper.agent.pods.objects.PodTokens;
import io.nodekeeper.agent.pods.volumes.VolumeNeed;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.plugin.PluginCall;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/** Collects what a driver gets with a call: secrets, tokens, the pod, the access mode. Confined to its loop. */
final class DriverInputs {
    private final VolumePorts ports;

    DriverInputs(VolumePorts ports) {
        this.ports = ports;
    }

    /** The values of the secret behind {@code reference}; none without one. */
    CompletableFuture<Map<String, String>> secrets(String field, JsonObject reference) {
        String name = reference.text("name");
        if (name.isEmpty()) {
            return CompletableFuture.completedFuture(Map.of());
        }
        String namespace = reference.text("namespace");
        String about = "fetching " + field + " " + namespace + "/" + name + " failed: ";
        return ports.objects()
                .get(ResourceType.SECRETS, namespace, name, ObjectCache.NEW)
                .handle((secret, error) -> {
                    if (error != null) {
                        throw new IllegalStateException(about + Failures.text(error), error);
                    }
                    return decoded(secret.orElseThrow(
                            () -> new IllegalStateException(about + "secrets \"" + name + "\" not found")));
                });
    }

    private static Map<String, String> decoded(JsonObject secret) {
        Map<String, String> values = new HashMap<>();
        secret.object("data")
                .texts()
                .forEach((key, value) ->
                        values.put(key, new String(Base64.getDecoder().decode(value), StandardCharsets.UTF_8)));
        return values;
    }

    /** What a driver receives when a volume is published: its attributes, and the pod if the driver asks for it. */
    CompletableFuture<Map<String, String>> context(Pod pod, CsiVolume volume, DriverPolicy policy) {
        Map<String, String> context = new HashMap<>(volume.attributes());
        if (policy.podInfoOnMount()) {
            String account = pod.spec().text("serviceAccountName");
            context.put("csi.storage.k8s.io/pod.name", pod.name());
            context.put("csi.storage.k8s.io/pod.namespace", pod.namespace());
            context.put("csi.storage.k8s.io/pod.uid", pod.uid());
            context.put("csi.storage.k8s.io/serviceAccount.name", account);
            context.put("csi.storage.k8s.io/ephemeral", Boolean.toString(volume.inline()));
        }
        if (policy.tokens().isEmpty()) {
            return CompletableFuture.completedFuture(context);
        }
        PodTokens tokens = new PodTokens(ports.client());
        Map<String, JsonObject> issued = new TreeMap<>();
        CompletableFuture<Void> all = CompletableFuture.completedFuture(null);
        for (VolumeNeed.Token need : policy.tokens()) {
            all = all.thenCompose(done -> tokens.get(pod, need))
                    .thenAccept(answer -> issued.put(need.audience(), status(answer)));
        }
        return all.thenApply(done -> {
            context.put("csi.storage.k8s.io/serviceAccount.tokens", Json.write(JsonObject.copyOf(issued)));
            return context;
        });
    }

    private static JsonObject status(JsonObject answer) {
        JsonObject status = answer.object("status");
        return JsonObject.builder()
                .put("token", status.text("token"))
                .put("expirationTimestamp", status.text("expirationTimestamp"))
                .build();
    }

    /** The access mode of {@code volume} in CSI's words. */
    static PluginCall.Access access(CsiVolume volume, CsiDriver driver) {
        boolean fine = driver.can(PluginCall.Capability.SINGLE_NODE_MULTI_WRITER);
        String mode = volume.accessModes().isEmpty() ? "" : volume.accessModes().getFirst();
        return switch (mode) {
            case "ReadOnlyMany" -> PluginCall.Access.MULTI_NODE_READER_ONLY;
            case "ReadWriteMany" -> PluginCall.Access.MULTI_NODE_MULTI_WRITER;
            case "ReadWriteOncePod" ->
                fine ? PluginCall.Access.SINGLE_NODE_SINGLE_WRITER : PluginCall.Access.SINGLE_NODE_WRITER;
            default -> fine ? PluginCall.Access.SINGLE_NODE_MULTI_WRITER : PluginCall.Access.SINGLE_NODE_WRITER;
        };
    }

    /** The pod's group, if the driver gives volumes to a group itself. */
    static String mountGroup(Pod pod, CsiDriver driver) {
        return driver.can(PluginCall.Capability.VOLUME_MOUNT_GROUP)
                ? pod.spec()
                        .object("securityContext")
                        .number("fsGroup")
                        .map(String::valueOf)
                        .orElse("")
                : "";
    }
}
