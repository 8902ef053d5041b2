package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Identifies a pod; the UID may be empty if only the name is known. Immutable. */
public record PodIdentity(String uid, String name, String namespace) {

    /** The pod that containerd passes to a CNI plugin in {@code CNI_ARGS}: {@code NAME=VALUE;NAME=VALUE}. */
    static Optional<PodIdentity> ofCniArguments(String arguments) {
        Map<String, String> values = CommandLines.variables(List.of(arguments.split(";")));
        return Optional.ofNullable(values.get("K8S_POD_NAME"))
                .map(name -> new PodIdentity(
                        values.getOrDefault("K8S_POD_UID", ""), name, values.getOrDefault("K8S_POD_NAMESPACE", "")));
    }

    /** The pod that containerd has written into {@code config}, the configuration of a bundle; empty if it has not yet. */
    static Optional<PodIdentity> ofBundle(String config) {
        try {
            JsonObject annotations =
                    Json.parseObject(config.getBytes(StandardCharsets.UTF_8)).object("annotations");
            String name = annotations.text("io.kubernetes.cri.sandbox-name");
            return name.isEmpty()
                    ? Optional.empty()
                    : Optional.of(new PodIdentity(
                            annotations.text("io.kubernetes.cri.sandbox-uid"),
                            name,
                            annotations.text("io.kubernetes.cri.sandbox-namespace")));
        } catch (JsonException e) {
            // The file is being written.
            return Optional.empty();
        }
    }

    /** The usual form: namespace/name. */
    public String text() {
        return namespace + "/" + name;
    }
}
