package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.apiserver.registry.Strategy;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** The rules of Namespaces. */
public final class NamespaceStrategy implements Strategy {
    /** The namespaces that always exist (as in Kubernetes). */
    public static final List<String> FIXED = List.of("default", "kube-system", "kube-public", "kube-node-lease");
    /** The namespaces that cannot be deleted (as in Kubernetes). */
    public static final List<String> IMMORTAL = List.of("default", "kube-system", "kube-public");

    /** The level of security that pods of a namespace must have. */
    private static final String ENFORCE = "pod-security.kubernetes.io/enforce";

    @Override
    public Optional<String> nameFault(String name) {
        return Names.labelFault(name);
    }

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return withDefaults(object)
                .update("spec", spec -> spec.with("finalizers", JsonArray.of(new JsonString("kubernetes"))))
                .with("status", JsonObject.builder().put("phase", "Active").build());
    }

    @Override
    public JsonObject withDefaults(JsonObject object) {
        String name = object.object("metadata").text("name");
        return object.update(
                "metadata",
                metadata -> metadata.update("labels", labels -> labels.with("kubernetes.io/metadata.name", name)));
    }

    @Override
    public List<String> warnings(Supplier<JsonObject> namespace) {
        String level = namespace.get().object("metadata").object("labels").text(ENFORCE);
        return level.isEmpty() || level.equals("privileged")
                ? List.of()
                : List.of("this API server stores the label " + ENFORCE + ", but does not refuse pods by it");
    }

    /** A namespace goes with all of its objects. */
    @Override
    public boolean isCollected() {
        return false;
    }
}
