package io.nodekeeper.apiserver.admission;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.ClusterResources;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.catalogue.StorageResources;
import io.nodekeeper.apiserver.fields.StorageClassName;
import io.nodekeeper.apiserver.kinds.storage.StorageSize;
import io.nodekeeper.apiserver.pods.PriorityAdmission;
import io.nodekeeper.apiserver.pods.RuntimeClassAdmission;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.store.Store;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The admission plugins Priority, RuntimeClass and PersistentVolumeClaimResize: give a new pod the values of its PriorityClass and
 * RuntimeClass, allow only one default PriorityClass, and let a claim grow only where its StorageClass allows it. Thread-safe.
 */
public final class ClassAdmission {
    private static final Resource PRIORITIES = ClusterResources.PRIORITY_CLASSES;
    private static final Resource RUNTIMES = ClusterResources.RUNTIME_CLASSES;
    private static final Resource CLAIMS = StorageResources.PERSISTENT_VOLUME_CLAIMS;
    private static final Resource STORAGE_CLASSES = StorageResources.STORAGE_CLASSES;

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

    /** Refuses a second default class, and a claim that may not grow. */
    public void check(Resource resource, JsonObject old, JsonObject next) {
        if (old == next) {
            return;
        }
        if (resource.equals(PRIORITIES) && next.bool("globalDefault")) {
            String name = next.object("metadata").text("name");
            PriorityAdmission.globalDefault(priorities())
                    .map(other -> other.object("metadata").text("name"))
                    .filter(other -> !other.equals(name))
                    .ifPresent(other -> {
                        throw ApiException.forbidden(
                                PRIORITIES.type(),
                                name,
                                "PriorityClass " + other + " is already marked as default. Only one default can exist");
                    });
        }
        // That only bound claims grow at all is a rule of the kind.
        boolean bound = old.object("status").text("phase").equals("Bound");
        if (resource.equals(CLAIMS) && bound && size(next).compareTo(size(old)) > 0 && !mayGrow(old)) {
            throw ApiException.forbidden(
                    CLAIMS.type(),
                    next.object("metadata").text("name"),
                    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must"
                            + " support resize");
        }
    }

    private boolean mayGrow(JsonObject claim) {
        String name = StorageClassName.of(claim);
        return !name.isEmpty()
                && find(STORAGE_CLASSES, name)
                        .filter(found -> found.bool("allowVolumeExpansion"))
                        .isPresent();
    }

    private static Quantity size(JsonObject claim) {
        return StorageSize.of(claim.object("spec").object("resources").object("requests"));
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
