package io.nodekeeper.apiserver.controllers;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.authorization.rbac.Aggregation;
import io.nodekeeper.apiserver.authorization.rbac.BuiltInRoles;
import io.nodekeeper.apiserver.authorization.rbac.PolicyRule;
import io.nodekeeper.apiserver.catalogue.AccessResources;
import io.nodekeeper.apiserver.catalogue.ClusterResources;
import io.nodekeeper.apiserver.pods.PriorityAdmission;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.writes.WriteHandler;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reconciles the built-in roles and bindings at the start: creates missing ones, and adds missing rules and subjects to
 * existing ones, unless their annotation forbids that. Additions by others stay.
 */
public final class BuiltInRolesBootstrap {
    private static final Logger log = LoggerFactory.getLogger(BuiltInRolesBootstrap.class);
    private static final String AGGREGATION = "aggregationRule";
    private static final String SELECTORS = "clusterRoleSelectors";

    private final Store store;
    private final WriteHandler writes;

    public BuiltInRolesBootstrap(Store store, WriteHandler writes) {
        this.store = store;
        this.writes = writes;
    }

    /** Starts; the namespaces must exist already. */
    public CompletableFuture<Void> ensure() {
        List<CompletableFuture<?>> written = new ArrayList<>();
        BuiltInRoles.clusterRoles().forEach(role -> ensure(AccessResources.CLUSTER_ROLES, primed(role), written));
        BuiltInRoles.roles().forEach(role -> ensure(AccessResources.ROLES, role, written));
        BuiltInRoles.clusterRoleBindings()
                .forEach(binding -> ensure(AccessResources.CLUSTER_ROLE_BINDINGS, binding, written));
        BuiltInRoles.roleBindings().forEach(binding -> ensure(AccessResources.ROLE_BINDINGS, binding, written));
        PriorityAdmission.BUILT_IN.forEach(priority -> {
            Resource resource = ClusterResources.PRIORITY_CLASSES;
            String name = priority.object("metadata").text("name");
            if (store.get(resource.key("", name)).isEmpty()) {
                written.add(unlessFaster(writes.createOwn(resource, "", priority)));
            }
        });
        return CompletableFuture.allOf(written.toArray(CompletableFuture[]::new));
    }

    /**
     * Copies custom rules of admin, edit and view from versions without aggregation to the roles that they now
     * aggregate, as Kubernetes does.
     */
    private JsonObject primed(JsonObject wanted) {
        String name = wanted.object("metadata").text("name");
        return BuiltInRoles.AGGREGATED.entrySet().stream()
                .filter(pair -> pair.getValue().equals(name) && stored(name).isEmpty())
                .flatMap(pair -> stored(pair.getKey()).stream())
                .filter(old -> !Aggregation.isAggregated(old))
                .findFirst()
                .map(old -> with(wanted, "rules", missingRules(wanted, old)))
                .orElse(wanted);
    }

    private Optional<JsonObject> stored(String clusterRole) {
        return store.get(AccessResources.CLUSTER_ROLES.key("", clusterRole))
                .map(AccessResources.CLUSTER_ROLES.codec()::decode);
    }

    private void ensure(Resource resource, JsonObject wanted, List<CompletableFuture<?>> written) {
        JsonObject metadata = wanted.object("metadata");
        Optional<Entry> stored = store.get(resource.key(metadata.text("namespace"), metadata.text("name")));
        if (stored.isEmpty()) {
            written.add(unlessFaster(writes.createOwn(resource, metadata.text("namespace"), wanted)));
            return;
        }
        JsonObject now = resource.codec().decode(stored.get());
        JsonObject completed;
        try {
            completed = completed(now, wanted);
        } catch (ApiException tooLarge) {
            // The server has to start whatever was added to a role, if only so that an administrator can remove it.
            log.warn("{} stays as it is: {}", stored.get().key(), tooLarge.getMessage());
            return;
        }
        if (!completed.equals(now)) {
            Entry entry = stored.get();
            written.add(unlessFaster(store.put(entry.key(), resource.codec().encode(completed), entry.modRevision())));
        }
    }

    /** Ignores a conflict: another server on the same store may have written the object. */
    public static CompletableFuture<?> unlessFaster(CompletableFuture<?> write) {
        return write.handle((done, error) -> {
            if (error == null
                    || Failures.cause(error) instanceof StoreException.Conflict
                    || (Failures.cause(error) instanceof ApiException refused && refused.code() == 409)) {
                return Boolean.TRUE;
            }
            throw new CompletionException(Failures.cause(error));
        });
    }

    /** The existing object with the missing parts of the wanted one. */
    static JsonObject completed(JsonObject now, JsonObject wanted) {
        String update = now.object("metadata").object("annotations").text(BuiltInRoles.AUTO_UPDATE);
        if (update.equals("false")) {
            return now;
        }
        JsonObject labelled = now.update(
                "metadata",
                metadata -> merged(
                        merged(metadata, wanted.object("metadata"), "labels"),
                        wanted.object("metadata"),
                        "annotations"));
        List<JsonValue> subjects = missing(now, wanted, "subjects");
        if (Aggregation.isAggregated(wanted)) {
            List<JsonValue> selectors = missing(now.object(AGGREGATION), wanted.object(AGGREGATION), SELECTORS);
            return selectors.isEmpty()
                    ? labelled
                    : labelled.update(AGGREGATION, aggregation -> with(aggregation, SELECTORS, selectors));
        }
        return with(with(labelled, "rules", missingRules(now, wanted)), "subjects", subjects);
    }

    private static List<JsonValue> missingRules(JsonObject now, JsonObject wanted) {
        return PolicyRule.missing(PolicyRule.listOf(now), PolicyRule.listOf(wanted)).stream()
                .<JsonValue>map(PolicyRule::json)
                .toList();
    }

    private static List<JsonValue> missing(JsonObject now, JsonObject wanted, String field) {
        return wanted.array(field).items().stream()
                .filter(item -> !now.array(field).items().contains(item))
                .toList();
    }

    /** {@code metadata} with missing entries added; existing values stay. */
    private static JsonObject merged(JsonObject metadata, JsonObject wanted, String map) {
        JsonObject.Builder entries = metadata.object(map).toBuilder();
        wanted.object(map).texts().forEach((key, value) -> {
            if (!metadata.object(map).has(key)) {
                entries.put(key, value);
            }
        });
        JsonObject all = entries.build();
        return all.isEmpty() ? metadata : metadata.with(map, all);
    }

    private static JsonObject with(JsonObject object, String field, List<JsonValue> more) {
        return more.isEmpty()
                ? object
                : object.with(
                        field,
                        new JsonArray(Stream.concat(object.array(field).items().stream(), more.stream())
                                .toList()));
    }
}
