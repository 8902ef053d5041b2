package io.nodekeeper.apiserver.writes;

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
import io.nodekeeper.apiserver.registry.Resource;
import java.util.Optional;

/**
 * Tracks the field owners of objects that were applied. Objects that were never applied have no owners, so heartbeats
 * cost nothing extra.
 */
final class FieldOwnership {
    private static final String MANAGED = "managedFields";
    /** The owner of the fields from before the first apply (Kubernetes' name). */
    private static final String BEFORE = "before-first-apply";

    /** The longest name of a manager (Kubernetes' limit). */
    static final int NAME = 128;

    private static final String LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

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
        ManagedFields owners = ManagedFields.parse(
                old.object("metadata").array(MANAGED), write.resource().schema());
        if (!isTracked(old)) {
            Manager before = new Manager(
                    BEFORE,
                    false,
                    write.resource().type().apiVersion(),
                    write.target().subresource());
            owners = owners.with(before, fields(write, old), now);
        }
        JsonObject own = reset(write, wanted);
        JsonObject live = bare(old);
        FieldSet fields = fields(write, wanted);
        Applied applied = ServerSideApply.apply(
                live, own, fields, owners, manager, force, write.resource().schema(), now);
        if (!applied.conflicts().isEmpty() && isOwnEarlierWork(write, live, applied)) {
            applied = ServerSideApply.apply(
                    live, own, fields, owners, manager, true, write.resource().schema(), now);
        }
        return applied;
    }

    /**
     * Whether all conflicting fields have the values of kubectl's last client-side apply, which it stores in an
     * annotation. Then kubectl may change them (Kubernetes' rule).
     */
    private static boolean isOwnEarlierWork(WriteRequest write, JsonObject live, Applied applied) {
        String noted = live.object("metadata").object("annotations").text(LAST_APPLIED);
        if (!write.manager().equals("kubectl") || noted.isEmpty()) {
            return false;
        }
        Optional<JsonObject> last = parse(noted);
        if (last.isEmpty()) {
            return false;
        }
        FieldSet unchanged = FieldSet.of(last.get(), write.resource().schema())
                .minus(FieldComparison.of(last.get(), live, write.resource().schema())
                        .written());
        return applied.conflicts().values().stream()
                .allMatch(contested -> contested.minus(unchanged).isEmpty());
    }

    private static Optional<JsonObject> parse(String text) {
        try {
            return Optional.of(Json.parseObject(text));
        } catch (JsonException e) {
            // Clients may write anything into an annotation; invalid content is ignored.
            return Optional.empty();
        }
    }

    private static Manager manager(WriteRequest write, boolean applies) {
        // The program name of a user agent.
        String program = write.manager().split("/", 2)[0];
        String name = program.isBlank() ? "unknown" : program.substring(0, Math.min(program.length(), NAME));
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
