package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.apply.FieldComparison;
import io.nodekeeper.apiserver.apply.FieldSet;
import io.nodekeeper.apiserver.apply.ManagedFields;
import io.nodekeeper.apiserver.apply.ManagedFields.Manager;
import io.nodekeeper.apiserver.apply.ServerSideApply;
import io.nodekeeper.apiserver.apply.ServerSideApply.Applied;
import io.nodekeeper.apiserver.registry.ObjectMetaRules;
import io.nodekeeper.apiserver.registry.Resource;
import java.util.Optional;

/**
 * Tracks the field owners of objects that were applied. Objects that were never applied have no owners, so heartbeats
 * cost nothing extra.
 */
final class FieldOwnership {
    private static final String MANAGED = "managedFields";
    /**
     * The owner of the fields from before the first apply. It has neither a name nor an annotation by which tools take over fields.
     * Such a tool removes every field that is missing from its manifest, even if another client wrote it.
     */
    private static final String EARLIER = "earlier-writers";

    /** The manager of kubectl's client-side apply, by whose annotation kubectl takes over its fields. */
    private static final String CLIENT_SIDE = "kubectl-client-side-apply";

    private static final String KUBECTL = "kubectl";

    /** The longest name of a manager (Kubernetes' limit). */
    static final int NAME = 128;

    private static final String ANNOTATIONS = "annotations";
    private static final String LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

    /** The annotation of kubectl's client-side apply. */
    private static final FieldSet ANNOTATION = FieldSet.parse(Json.parseObject("""
            {"f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/last-applied-configuration": {}}}}
            """));

    /** Fields of the server and of the object's identity, which have no owner. */
    private static final FieldSet UNOWNED = FieldSet.parse(Json.parseObject("""
            {"f:apiVersion": {}, "f:kind": {}, "f:metadata": {".": {}, "f:name": {}, "f:generateName": {},
             "f:namespace": {}, "f:uid": {}, "f:resourceVersion": {}, "f:generation": {}, "f:creationTimestamp": {},
             "f:deletionTimestamp": {}, "f:deletionGracePeriodSeconds": {}, "f:selfLink": {}, "f:managedFields": {}}}
            """));

    private FieldOwnership() {}

    /** Whether the object was ever applied. */
    static boolean isTracked(JsonObject object) {
        return object.object("metadata").has(MANAGED);
    }

    /** The object with these owners. */
    static JsonObject with(JsonObject object, ManagedFields owners) {
        JsonArray entries = owners.toJson();
        return object.update(
                "metadata",
                metadata -> entries.isEmpty() ? metadata.without(MANAGED) : metadata.with(MANAGED, entries));
    }

    /**
     * {@code next} with its owners after an update or patch.
     * @param asked the requested object; a patch may set the owners itself, as kubectl does when it starts to use apply
     */
    static JsonObject tracked(WriteRequest write, JsonObject old, JsonObject asked, JsonObject next, String now) {
        JsonArray before = old.object("metadata").array(MANAGED);
        JsonArray given = asked.object("metadata").array(MANAGED);
        Resource resource = write.resource();
        ManagedFields owners =
                ManagedFields.parse(write.patches() && !given.isEmpty() ? given : before, resource.schema());
        FieldComparison change = FieldComparison.of(bare(old), bare(next), resource.schema());
        change = new FieldComparison(
                change.written().minus(UNOWNED), change.removed().minus(UNOWNED));
        return with(next, owners.written(manager(write, false), change, now));
    }

    /** The owners of an object that an apply creates. */
    static ManagedFields created(WriteRequest write, JsonObject wanted, String now) {
        return ManagedFields.NONE.with(manager(write, true), fields(write, wanted), now);
    }

    /** Applies {@code wanted} to {@code old}. */
    static Applied apply(WriteRequest write, JsonObject old, JsonObject wanted, boolean force, String now) {
        Manager manager = manager(write, true);
        ManagedFields owners = isTracked(old)
                ? ManagedFields.parse(
                        old.object("metadata").array(MANAGED), write.resource().schema())
                : earlier(write, old, now);
        JsonObject own = reset(write, wanted);
        JsonObject live = bare(old);
        FieldSet fields = fields(write, wanted);
        Applied applied = ServerSideApply.apply(
                live, own, fields, owners, manager, force, write.resource().schema(), now);
        if (!applied.conflicts().isEmpty() && isOwnEarlierWork(write, live, applied)) {
            applied = ServerSideApply.apply(
                    live, own, fields, owners, manager, true, write.resource().schema(), now);
        }
        boolean noted =
                write.manager().equals(KUBECTL) && !annotation(applied.object()).isEmpty();
        return noted ? new Applied(noted(applied.object(), wanted), applied.owners(), applied.conflicts()) : applied;
    }

    /**
     * {@code object} with {@code wanted} in kubectl's annotation: a later client-side apply removes the fields that are in the annotation
     * and no longer in its manifest.
     */
    private static JsonObject noted(JsonObject object, JsonObject wanted) {
        JsonObject plain = wanted.update(
                "metadata",
                metadata -> metadata.has(ANNOTATIONS)
                        ? metadata.update(ANNOTATIONS, annotations -> annotations.without(LAST_APPLIED))
                        : metadata);
        return object.update(
                "metadata",
                metadata -> metadata.update(ANNOTATIONS, annotations -> {
                    JsonObject full = annotations.with(LAST_APPLIED, Json.write(plain) + "\n");
                    return ObjectMetaRules.fit(full.texts()) ? full : annotations.without(LAST_APPLIED);
                }));
    }

    /**
     * The owners at the first apply. What kubectl applied on the client side is its own, with the defaults that followed from it, unless
     * it has another value now.
     */
    private static ManagedFields earlier(WriteRequest write, JsonObject old, String now) {
        FieldSet all = fields(write, old);
        FieldSet rest = all;
        if (old.object("metadata").object(ANNOTATIONS).has(LAST_APPLIED)) {
            rest = rest.minus(ANNOTATION);
            Optional<JsonObject> last = lastApplied(write, old);
            if (last.isPresent()) {
                rest = rest.minus(unchanged(write, write.resource().strategy().withDefaults(last.get()), bare(old)));
            }
        }
        return ManagedFields.NONE
                .with(updater(write, CLIENT_SIDE), all.minus(rest), now)
                .with(updater(write, EARLIER), rest, now);
    }

    private static Manager updater(WriteRequest write, String name) {
        return new Manager(
                name,
                false,
                write.resource().type().apiVersion(),
                write.target().subresource());
    }

    /**
     * Whether all conflicting fields have the values of kubectl's last client-side apply, which it stores in an
     * annotation. Then kubectl may change them (Kubernetes' rule).
     */
    private static boolean isOwnEarlierWork(WriteRequest write, JsonObject live, Applied applied) {
        Optional<JsonObject> last = write.manager().equals(KUBECTL) ? lastApplied(write, live) : Optional.empty();
        if (last.isEmpty()) {
            return false;
        }
        FieldSet unchanged = unchanged(write, last.get(), live);
        return applied.conflicts().values().stream()
                .allMatch(contested -> contested.minus(unchanged).isEmpty());
    }

    /** The fields of {@code last} that have the same value in {@code live}. */
    private static FieldSet unchanged(WriteRequest write, JsonObject last, JsonObject live) {
        FieldComparison change = FieldComparison.of(last, live, write.resource().schema());
        return FieldSet.of(last, write.resource().schema())
                .minus(change.written())
                .minus(change.removed());
    }

    private static String annotation(JsonObject object) {
        return object.object("metadata").object(ANNOTATIONS).text(LAST_APPLIED);
    }

    /** What kubectl applied last on the client side, by its annotation. */
    private static Optional<JsonObject> lastApplied(WriteRequest write, JsonObject object) {
        String text = annotation(object);
        if (text.isEmpty()) {
            return Optional.empty();
        }
        try {
            JsonObject last = Json.parseObject(text);
            RequestBodies.check(write.resource(), last, 400);
            return Optional.of(RequestBodies.normalized(write.resource(), last));
        } catch (JsonException | ApiException e) {
            // Clients may write anything into an annotation; invalid content is ignored.
            return Optional.empty();
        }
    }

    private static Manager manager(WriteRequest write, boolean applies) {
        String given = write.manager();
        String name = given.isBlank() ? "unknown" : given.substring(0, Math.min(given.length(), NAME));
        return new Manager(
                name,
                applies,
                write.resource().type().apiVersion(),
                write.target().subresource());
    }

    private static FieldSet fields(WriteRequest write, JsonObject object) {
        return FieldSet.of(bare(reset(write, object)), write.resource().schema())
                .minus(UNOWNED);
    }

    /** Without the fields that cannot be written through the request's subresource. */
    private static JsonObject reset(WriteRequest write, JsonObject object) {
        if (write.target().subresource().equals("status")) {
            return object.without("spec");
        }
        return write.resource().hasStatus() ? object.without("status") : object;
    }

    private static JsonObject bare(JsonObject object) {
        return isTracked(object) ? object.update("metadata", metadata -> metadata.without(MANAGED)) : object;
    }
}
