package io.nodekeeper.apiserver.admission;

import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.RequestTarget;

/**
 * The admission plugin DefaultTolerationSeconds: adds tolerations for nodes that are not ready or unreachable to pods
 * that have none of their own. Immutable.
 *
 * @param notReadySeconds the time on a node that is not ready
 * @param unreachableSeconds the time on a node that is unreachable
 */
public record DefaultTolerations(long notReadySeconds, long unreachableSeconds) {
    /** Kubernetes' defaults. */
    public static final DefaultTolerations DEFAULT = new DefaultTolerations(300, 300);

    /** The object to store, of any kind and from any kind of write. */
    public JsonObject admit(Resource resource, RequestTarget target, JsonObject object) {
        if (!resource.equals(Resources.PODS) || !target.subresource().isEmpty()) {
            return object;
        }
        JsonArray before = object.object("spec").array("tolerations");
        JsonArray tolerations =
                with(with(before, Taint.NOT_READY, notReadySeconds), Taint.UNREACHABLE, unreachableSeconds);
        return tolerations.equals(before)
                ? object
                : object.update("spec", spec -> spec.with("tolerations", tolerations));
    }

    private static JsonArray with(JsonArray tolerations, String key, long seconds) {
        boolean there = tolerations
                .objects()
                .anyMatch(toleration -> isOrEmpty(toleration.text("key"), key)
                        && isOrEmpty(toleration.text("effect"), Taint.NO_EXECUTE));
        return there
                ? tolerations
                : tolerations.plus(JsonObject.builder()
                        .put("key", key)
                        .put("operator", "Exists")
                        .put("effect", Taint.NO_EXECUTE)
                        .put("tolerationSeconds", seconds)
                        .build());
    }

    private static boolean isOrEmpty(String text, String expected) {
        return text.isEmpty() || text.equals(expected);
    }
}
