package io.nodekeeper.cri.docker;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The labels and names by which Kubernetes' dockershim, and cri-dockerd after it, mark the containers of pods. */
final class Labels {
    static final String TYPE = "io.kubernetes.docker.type";
    static final String SANDBOX = "podsandbox";
    static final String CONTAINER = "container";
    static final String SANDBOX_ID = "io.kubernetes.sandbox.id";
    static final String CONTAINER_NAME = "io.kubernetes.container.name";
    static final String POD_NAME = "io.kubernetes.pod.name";
    static final String POD_NAMESPACE = "io.kubernetes.pod.namespace";
    static final String POD_UID = "io.kubernetes.pod.uid";
    /** Docker has no annotations; they are labels with this prefix. */
    private static final String ANNOTATION = "annotation.";

    /** k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT, and a random number if that name was taken. */
    private static final Pattern NAME = Pattern.compile("/?k8s_[^_]*_[^_]*_[^_]*_[^_]*_([0-9]{1,9})(?:_.*)?");

    private Labels() {}

    /** The attempt in a container's name; 0 if the name is another one. */
    static int attempt(String name) {
        Matcher matcher = NAME.matcher(name);
        return matcher.matches() ? Integer.parseInt(matcher.group(1)) : 0;
    }

    /** The annotations among the labels. */
    static Map<String, String> annotations(JsonObject labels) {
        Map<String, String> annotations = new HashMap<>();
        labels.texts().forEach((name, value) -> {
            if (name.startsWith(ANNOTATION)) {
                annotations.put(name.substring(ANNOTATION.length()), value);
            }
        });
        return annotations;
    }

    /** Docker's filter for the containers of all pods, or of the pod with that UID. */
    static JsonObject filter(Optional<String> podUid) {
        List<String> labels =
                podUid.map(uid -> List.of(TYPE, POD_UID + "=" + uid)).orElse(List.of(TYPE));
        return JsonObject.EMPTY.with("label", JsonArray.ofStrings(labels));
    }

    /** Docker's filter for the containers of a sandbox. */
    static JsonObject sandboxFilter(String id) {
        return JsonObject.EMPTY.with("label", JsonArray.ofStrings(List.of(SANDBOX_ID + "=" + id)));
    }
}
