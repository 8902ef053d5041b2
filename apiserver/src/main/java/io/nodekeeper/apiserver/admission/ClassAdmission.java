package io.nodekeeper.apiserver.admission;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.ClusterResources;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.pods.PriorityAdmission;
import io.nodekeeper.apiserver.pods.RuntimeClassAdmission;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.store.Store;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Gives a new pod what its PriorityClass and its RuntimeClass say, and keeps PriorityClasses to one default: Kubernetes'
 * admission plugins Priority and RuntimeClass. Thread-safe.
 */
public final class ClassAdmission {
    private static final Resource PRIORITIES = ClusterResources.PRIORITY_CLASSES;
    private static final Resource RUNTIMES = ClusterResources.RUNTIME_CLASSES;

    private final Store store;

    public ClassAdmission(Store store) {
        this.store = store;
    }

    /** The object as it is to be created, whatever it is. */
    public JsonObject admit(Resource resource, RequestTarget target, JsonObject object) {
        if (!resource.equals(Resources.PODS) || !target.subresource().isEmpty()) {
            return object;
        }
        JsonObject prioritized = PriorityAdmission.admit(
                object, name -> find(PRIORITIES, name), () -> PriorityAdmission.globalDefault(priorities()));
        return RuntimeClassAdmission.admit(prioritized, name -> find(RUNTIMES, name));
    }

    /** Refuses a second class that is the default. */
    public void check(Resource resource, JsonObject old, JsonObject next) {
        if (!resource.equals(PRIORITIES) || old == next || !next.bool("globalDefault")) {
            return;
        }
        String name = next.object("metadata").text("name");
        PriorityAdmission.globalDefault(priorities())
                .map(other -> other.object("metadata").text("name"))
                .filter(other -> !other.equals(name))
                .ifPresent(other -> {
                    throw new ApiException(
                            403,
                            "Forbidden",
                            "priorityclasses.scheduling.k8s.io \"" + name + "\" is forbidden: PriorityClass " + other
                                    + " is already marked as default. Only one default can exist",
                            JsonObject.builder()
                                    .put("name", name)
                                    .put("group", PRIORITIES.type().group())
                                    .put("kind", PRIORITIES.type().plural())
                                    .build());
                });
    }

    private Optional<JsonObject> find(Resource resource, String name) {
        return name.contains("/")
                ? Optional.empty()
                : store.get(resource.key("", name)).map(resource.codec()::decode);
    }

    /** A cluster has a handful of them, which only its administrators write. */
    private Stream<JsonObject> priorities() {
        return store.list(PRIORITIES.prefix(""), "", 0, 0).entries().stream().map(PRIORITIES.codec()::decode);
    }
}
