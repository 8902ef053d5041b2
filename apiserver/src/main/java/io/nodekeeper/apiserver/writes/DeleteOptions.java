package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.schema.KindSchemas;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The options of a deletion, from the body of the request and its parameters.
 * @param dryRun whether to change nothing
 * @param graceSeconds the requested grace period
 * @param propagation what happens to the objects that it owns
 * @param uid the UID that the object must have; empty for any
 * @param resourceVersion the version that it must have; empty for any
 */
public record DeleteOptions(
        boolean dryRun, Optional<Long> graceSeconds, Propagation propagation, String uid, String resourceVersion) {
    /** Deletes immediately, unless there are finalizers. */
    static final DeleteOptions NOW = new DeleteOptions(false, Optional.of(0L), Propagation.UNSAID, "", "");

    /** Deletes with the grace period that the object asks for. */
    static final DeleteOptions GRACEFUL = new DeleteOptions(false, Optional.empty(), Propagation.UNSAID, "", "");

    private static final Map<String, Propagation> POLICIES = Map.of(
            "", Propagation.UNSAID,
            "Background", Propagation.BACKGROUND,
            "Foreground", Propagation.FOREGROUND,
            "Orphan", Propagation.ORPHAN);

    private static final Schema SCHEMA = KindSchemas.of("v1", "DeleteOptions");

    /** The same for an object that must still have the version {@code other}. */
    public DeleteOptions withResourceVersion(String other) {
        return new DeleteOptions(dryRun, graceSeconds, propagation, uid, other);
    }

    /** Reads the options; absent ones get the kind's defaults. */
    public static DeleteOptions of(ApiRequest request) {
        return of(RequestBodies.object(request), request);
    }

    /** Reads the options from {@code body} and the parameters of {@code request}. */
    public static DeleteOptions of(JsonObject body, ApiRequest request) {
        Optional<String> mismatch = SCHEMA.mismatch(body);
        String kind = body.text("kind");
        if (!kind.isEmpty() && !kind.equals("DeleteOptions")) {
            mismatch = Optional.of("the object provided is a " + kind);
        }
        if (mismatch.isPresent()) {
            throw ApiException.badRequest("the body cannot be handled as DeleteOptions: " + mismatch.get());
        }
        String policy = request.parameter("propagationPolicy").isEmpty()
                ? body.text("propagationPolicy")
                : request.parameter("propagationPolicy");
        if (!POLICIES.containsKey(policy)) {
            throw invalid("propagationPolicy: Unsupported value: \"" + policy
                    + "\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"");
        }
        Optional<Boolean> orphan = orphanDependents(request, body);
        if (!policy.isEmpty() && orphan.isPresent()) {
            throw invalid("propagationPolicy: Invalid value: \"" + policy
                    + "\": orphanDependents and deletionPropagation cannot be both set");
        }
        // A negative period is one second, as in Kubernetes.
        Optional<Long> grace =
                seconds(request).or(() -> body.number("gracePeriodSeconds")).map(asked -> asked < 0 ? 1 : asked);
        List<String> modes = body.array("dryRun").strings().toList();
        boolean dryRun = DryRun.wanted(request.parameter("dryRun"))
                | !modes.stream().filter(DryRun::wanted).toList().isEmpty();
        JsonObject preconditions = body.object("preconditions");
        Propagation propagation = orphan.map(keep -> keep ? Propagation.ORPHAN : Propagation.BACKGROUND)
                .orElseGet(() -> POLICIES.get(policy));
        return new DeleteOptions(
                dryRun, grace, propagation, preconditions.text("uid"), preconditions.text("resourceVersion"));
    }

    /** The old form of Orphan and Background, from the query or the body. */
    private static Optional<Boolean> orphanDependents(ApiRequest request, JsonObject body) {
        String text = request.parameter("orphanDependents");
        if (!text.isEmpty()) {
            return Optional.of(!text.equalsIgnoreCase("false") && !text.equals("0"));
        }
        return body.has("orphanDependents") ? Optional.of(body.bool("orphanDependents")) : Optional.empty();
    }

    private static Optional<Long> seconds(ApiRequest request) {
        String text = request.parameter("gracePeriodSeconds");
        if (text.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(Long.parseLong(text));
        } catch (NumberFormatException e) {
            throw ApiException.badRequest(
                    "gracePeriodSeconds: Invalid value: \"" + text + "\": expected a whole number");
        }
    }

    private static ApiException invalid(String why) {
        return new ApiException(422, "Invalid", "DeleteOptions.meta.k8s.io \"\" is invalid: " + why);
    }
}
