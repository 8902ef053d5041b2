package io.nodekeeper.agent.pods.volumes;

import io.nodekeeper.api.json.JsonObject;
import java.util.Map;
import java.util.Optional;

/**
 * What the API answered about the needs of a pod's volumes. Immutable. Its text has no content, which may be secret.
 *
 * @param found what exists; of a token, the status of the answered TokenRequest
 * @param errors why something could not be read; what is neither here nor found does not exist
 */
public record VolumeObjects(Map<VolumeNeed, JsonObject> found, Map<VolumeNeed, String> errors) {
    /** Nothing. */
    public static final VolumeObjects NONE = new VolumeObjects(Map.of(), Map.of());

    /** Keeps copies. */
    public VolumeObjects {
        found = Map.copyOf(found);
        errors = Map.copyOf(errors);
    }

    /**
     * The object, if it exists.
     *
     * @throws VolumeException about {@code volume} if that is not known
     */
    Optional<JsonObject> get(String volume, VolumeNeed need) {
        String error = errors.get(need);
        if (error != null) {
            throw new VolumeException(volume, error);
        }
        return Optional.ofNullable(found.get(need));
    }

    @Override
    public String toString() {
        return "VolumeObjects[found " + found.keySet() + ", errors " + errors + "]";
    }
}
