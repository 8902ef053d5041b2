package io.nodekeeper.apiserver;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.JsonValue;
import io.nodekeeper.apiserver.access.BuiltInRoles;
import io.nodekeeper.apiserver.access.Rule;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

/**
 * Sees to it at the start that the built-in roles and bindings are there: creates what is missing and adds what is missing
 * in what is there, unless its annotation says that the server is not to. What was added by others stays.
 */
final class BuiltInAccess {
    private final Store store;
    private final Mutations mutations;

    BuiltInAccess(Store store, Mutations mutations) {
        this.store = store;
        this.mutations = mutations;
    }

    /** Begins; the namespaces must be there already. */
    CompletableFuture<Void> ensure() {
        List<CompletableFuture<?>> written = new ArrayList<>();
        BuiltInRoles.clusterRoles().forEach(role -> ensure(AccessResources.CLUSTER_ROLES, role, written));
        BuiltInRoles.roles().forEach(role -> ensure(AccessResources.ROLES, role, written));
        BuiltInRoles.clusterRoleBindings()
                .forEach(binding -> ensure(AccessResources.CLUSTER_ROLE_BINDINGS, binding, written));
        BuiltInRoles.roleBindings().forEach(binding -> ensure(AccessResources.ROLE_BINDINGS, binding, written));
        return CompletableFuture.allOf(written.toArray(CompletableFuture[]::new));
    }

    private void ensure(Resource resource, JsonObject wanted, List<CompletableFuture<?>> written) {
        JsonObject metadata = wanted.object("metadata");
        Optional<Entry> stored = store.get(resource.key(metadata.text("namespace"), metadata.text("name")));
        if (stored.isEmpty()) {
            written.add(unlessFaster(mutations.createOwn(resource, metadata.text("namespace"), wanted)));
            return;
        }
        JsonObject now = resource.codec().decode(stored.get());
        JsonObject completed = completed(now, wanted);
        if (!completed.equals(now)) {
            Entry entry = stored.get();
            written.add(unlessFaster(store.put(entry.key(), resource.codec().encode(completed), entry.modRevision())));
        }
    }

    /** Another server on the same store may have done it meanwhile. */
    static CompletableFuture<?> unlessFaster(CompletableFuture<?> write) {
        return write.handle((done, error) -> {
            if (error == null
                    || Failures.cause(error) instanceof StoreException.Conflict
                    || (Failures.cause(error) instanceof ApiException refused && refused.code() == 409)) {
                return Boolean.TRUE;
            }
            throw new CompletionException(Failures.cause(error));
        });
    }

    /** What is there, and what of the wanted it lacks. */
    static JsonObject completed(JsonObject now, JsonObject wanted) {
        String update = now.object("metadata").object("annotations").text(BuiltInRoles.AUTO_UPDATE);
        if (update.equals("false")) {
            return now;
        }
        List<JsonValue> rules = Rule.missing(Rule.listOf(now), Rule.listOf(wanted)).stream()
                .<JsonValue>map(Rule::json)
                .toList();
        List<JsonValue> subjects = wanted.array("subjects").items().stream()
                .filter(subject -> !now.array("subjects").items().contains(subject))
                .toList();
        return with(with(now, "rules", rules), "subjects", subjects);
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
