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
 * The admission plugins Priority and RuntimeClass: give a new pod the values of its PriorityClass and RuntimeClass, and
 * allow only one default PriorityClass. Thread-safe.
 */
public final class ClassAdmission {
    private static final Resource PRIORITIES = ClusterResources.PRIORITY_CLASSES;
    private static final Resource RUNTIMES = ClusterResources.RUNTIME_CLASSES;

    private final Store store;

    public ClassAdmission(Store store) {
        this.store = store;
    }

    /** The object to create, of any kind. */
    public JsonObject admit(Resource resource, RequestTarget target, JsonObject object) {
        if (!resource.equals(Resources.PODS) || !target.subresource().isEmpty()) {
            return object;
        }
        JsonObject prioritized = PriorityAdmission.admit(
                object, name -> find(PRIORITIES, name), () -> PriorityAdmission.globalDefault(priorities()));
        return RuntimeClassAdmission.admit(prioritized, name -> find(RUNTIMES, name));
    }

    /** Refuses a second default class. */
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

    /** All PriorityClasses: a cluster has a few, which only administrators write. */
    private Stream<JsonObject> priorities() {
        return store.list(PRIORITIES.prefix(""), "", 0, 0).entries().stream().map(PRIORITIES.codec()::decode);
    }
}
