package io.nodekeeper.apiserver.kinds.storage;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.PersistentVolumeSources;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.fields.SemanticEquality;
import io.nodekeeper.apiserver.registry.Strategy;
import io.nodekeeper.apiserver.schema.KindSchemas;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The rules of PersistentVolumes. */
public final class PersistentVolumeStrategy implements Strategy {
    private static final List<String> POLICIES = List.of("Delete", "Recycle", "Retain");
    private static final String AFFINITY = "nodeAffinity";
    private static final String ATTRIBUTES = "volumeAttributesClassName";
    private static final String EXPANSION_SECRET = "controllerExpandSecretRef";
    private static final Optional<Schema> SPEC =
            KindSchemas.of("v1", "PersistentVolume").field("spec");

    /** Labels of nodes that were renamed when they left beta. */
    private static final Map<String, String> RENAMED = Map.of(
            "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone",
            "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region",
            "beta.kubernetes.io/os", "kubernetes.io/os",
            "beta.kubernetes.io/arch", "kubernetes.io/arch",
            "beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type");

    @Override
    public JsonObject withDefaults(JsonObject object) {
        return object.update(
                "spec",
                spec -> ObjectFields.text(
                        ObjectFields.text(spec, "persistentVolumeReclaimPolicy", "Retain"),
                        "volumeMode",
                        "Filesystem"));
    }

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return withDefaults(object).with("status", JsonObject.EMPTY.with("phase", "Pending"));
    }

    @Override
    public List<FieldError> validate(JsonObject volume) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = volume.object("spec");
        AccessModes.check(spec, errors);
        if (!spec.object("capacity").has(StorageSize.STORAGE)) {
            errors.add(FieldError.required("spec.capacity", ""));
        }
        Map<String, JsonValue> sources = PersistentVolumeSources.of(spec);
        if (sources.isEmpty()) {
            errors.add(FieldError.required("spec", "must specify a volume type"));
        }
        sources.keySet().stream()
                .skip(1)
                .forEach(more ->
                        errors.add(FieldError.forbidden("spec." + more, "may not specify more than 1 volume type")));
        required(spec, "csi", List.of("driver", "volumeHandle"), errors);
        required(spec, "local", List.of("path"), errors);
        required(spec, "hostPath", List.of("path"), errors);
        if (spec.has("local") && !spec.object(AFFINITY).has("required")) {
            errors.add(FieldError.required("spec.nodeAffinity", "Local volume requires node affinity"));
        }
        String policy = spec.text("persistentVolumeReclaimPolicy");
        if (!POLICIES.contains(policy)) {
            errors.add(FieldError.notSupported(
                    "spec.persistentVolumeReclaimPolicy", AccessModes.quoted(policy), AccessModes.listed(POLICIES)));
        }
        return errors;
    }

    @Override
    public List<FieldError> validateCreate(JsonObject volume) {
        List<FieldError> errors = new ArrayList<>();
        checkCapacity(volume.object("spec").object("capacity"), errors);
        return errors;
    }

    private static void checkCapacity(JsonObject capacity, List<FieldError> errors) {
        if (capacity.size() > 1) {
            errors.add(FieldError.notSupported(
                    "spec.capacity", capacity.toString(), AccessModes.quoted(StorageSize.STORAGE)));
        }
        StorageSize.fault("spec.capacity[storage]", capacity).ifPresent(errors::add);
    }

    private static void required(JsonObject spec, String source, List<String> fields, List<FieldError> errors) {
        if (spec.has(source)) {
            fields.stream()
                    .filter(field -> spec.object(source).text(field).isEmpty())
                    .map(field -> FieldError.required("spec." + source + "." + field, ""))
                    .forEach(errors::add);
        }
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject volume, JsonObject old) {
        JsonObject spec = volume.object("spec");
        JsonObject before = old.object("spec");
        List<FieldError> errors = new ArrayList<>(Strategy.immutable("spec.", spec, before, List.of("volumeMode")));
        if (!SemanticEquality.of(source(spec, before), source(before, before), SPEC)) {
            errors.add(FieldError.forbidden(
                    "spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation"));
        }
        if (before.has(AFFINITY) && !isSameAffinity(spec.object(AFFINITY), before.object(AFFINITY))) {
            errors.add(FieldError.invalid(
                    "spec." + AFFINITY,
                    spec.get(AFFINITY).map(Object::toString).orElse("null"),
                    "field is immutable, except for updating from beta label to GA"));
        }
        if (before.has(ATTRIBUTES) && !spec.has(ATTRIBUTES)) {
            errors.add(FieldError.forbidden("spec." + ATTRIBUTES, "update from non-nil value to nil is forbidden"));
        }
        if (!spec.object("capacity").equals(before.object("capacity"))) {
            checkCapacity(spec.object("capacity"), errors);
        }
        return errors;
    }

    /** The fixed part of the source: the secret for expansions may be added later. */
    private static JsonObject source(JsonObject spec, JsonObject before) {
        JsonObject source = JsonObject.copyOf(PersistentVolumeSources.of(spec));
        return before.object("csi").has(EXPANSION_SECRET)
                ? source
                : ObjectFields.inside(source, "csi", csi -> csi.without(EXPANSION_SECRET));
    }

    private static boolean isSameAffinity(JsonObject affinity, JsonObject before) {
        return SemanticEquality.of(affinity, before, Optional.empty())
                || SemanticEquality.of(affinity, renamed(before), Optional.empty());
    }

    private static JsonObject renamed(JsonObject affinity) {
        return ObjectFields.inside(
                affinity,
                "required",
                required -> ObjectFields.each(
                        required,
                        "nodeSelectorTerms",
                        term -> ObjectFields.each(term, "matchExpressions", PersistentVolumeStrategy::renamedKey)));
    }

    private static JsonObject renamedKey(JsonObject expression) {
        String key = expression.text("key");
        return expression.with("key", RENAMED.getOrDefault(key, key));
    }
}
