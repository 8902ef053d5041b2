package io.nodekeeper.client.shadow;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.patch.MergePatch;
import io.nodekeeper.api.patch.StrategicMergePatch;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.api.schema.Schemas;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.PatchType;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** Computes the result that a server would give to a write. Pure. */
final class ShadowWrites {
    private static final Map<String, Schema> SCHEMAS = Map.of(
            "nodes", Schemas.NODE,
            "pods", Schemas.POD,
            "leases", Schemas.PLAIN,
            "events", Schemas.PLAIN,
            "namespaces", Schemas.WITH_CONDITIONS);

    /**
     * {@code before} after the write; empty if the write deletes it.
     *
     * @throws ApiException if a server would refuse
     */
    Optional<JsonObject> apply(Call call, ShadowTarget target, JsonObject before, JsonObject body, Instant wallTime) {
        return switch (call.method()) {
            case "PUT" -> {
                check(target, before, body.object("metadata"));
                yield Optional.of(
                        target.subresource().equals("status")
                                ? before.with("status", body.object("status"))
                                : body.with("status", before.object("status")));
            }
            case "PATCH" -> {
                check(target, before, body.object("metadata"));
                JsonObject patch = body.update(
                        "metadata",
                        metadata -> metadata.without("resourceVersion").without("uid"));
                yield Optional.of(patched(call, target, before, patch));
            }
            case "DELETE" -> {
                check(target, before, body.object("preconditions"));
                yield deleted(target, before, body, wallTime);
            }
            default -> throw new ApiException(405, "MethodNotAllowed", call + " is not known to a shadow");
        };
    }

    private static JsonObject patched(Call call, ShadowTarget target, JsonObject before, JsonObject patch) {
        if (call.contentType().equals(PatchType.STRATEGIC.mediaType())) {
            Schema schema = SCHEMAS.get(target.plural());
            if (schema == null) {
                throw new ApiException(415, "UnsupportedMediaType", call + ": no schema of " + target.plural());
            }
            return StrategicMergePatch.apply(before, patch, schema);
        }
        if (call.contentType().equals(PatchType.MERGE.mediaType())
                && MergePatch.apply(before, patch) instanceof JsonObject merged) {
            return merged;
        }
        throw new ApiException(
                415, "UnsupportedMediaType", call + " is of type " + call.contentType() + ", unknown to a shadow");
    }

    /** A scheduled pod ends when its node reports so; all other objects are deleted immediately. */
    private static Optional<JsonObject> deleted(
            ShadowTarget target, JsonObject before, JsonObject options, Instant wallTime) {
        boolean atOnce =
                options.number("gracePeriodSeconds").filter(grace -> grace == 0).isPresent();
        boolean runs = target.plural().equals("pods")
                && !before.object("spec").text("nodeName").isEmpty();
        if (atOnce || !runs) {
            return Optional.empty();
        }
        return Optional.of(
                before.object("metadata").has("deletionTimestamp")
                        ? before
                        : before.update(
                                "metadata", metadata -> metadata.with("deletionTimestamp", KubeTime.format(wallTime))));
    }

    /** Refuses a write whose preconditions name another object or an earlier version. */
    private static void check(ShadowTarget target, JsonObject before, JsonObject expected) {
        String uid = expected.text("uid");
        String version = expected.text("resourceVersion");
        JsonObject metadata = before.object("metadata");
        boolean same = (uid.isEmpty() || uid.equals(metadata.text("uid")))
                && (version.isEmpty() || real(version).equals(metadata.text("resourceVersion")));
        if (!same) {
            throw new ApiException(
                    409,
                    "Conflict",
                    "Operation cannot be fulfilled on " + target.plural() + " \"" + target.name()
                            + "\": the object has been modified; please apply your changes to the latest version and"
                            + " try again");
        }
    }

    /** The version without the suffix of a shadow's answer. */
    private static String real(String version) {
        int dot = version.indexOf('.');
        return dot < 0 ? version : version.substring(0, dot);
    }
}
