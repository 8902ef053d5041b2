package io.nodekeeper.apiserver.kinds.storage;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.fields.SemanticEquality;
import io.nodekeeper.apiserver.registry.Strategy;
import io.nodekeeper.apiserver.schema.KindSchemas;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The rules of PersistentVolumeClaims. */
public final class PersistentVolumeClaimStrategy implements Strategy {
    private static final String VOLUME = "volumeName";
    private static final String CLASS = "storageClassName";
    private static final String ATTRIBUTES = "volumeAttributesClassName";
    private static final String SOURCE = "dataSource";
    private static final String SOURCE_REF = "dataSourceRef";
    private static final Optional<Schema> SPEC =
            KindSchemas.of("v1", "PersistentVolumeClaim").field("spec");

    @Override
    public JsonObject withDefaults(JsonObject object) {
        return object.update("spec", spec -> ObjectFields.text(spec, "volumeMode", "Filesystem"));
    }

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return withDefaults(object)
                .update("spec", PersistentVolumeClaimStrategy::withBothSources)
                .with("status", JsonObject.EMPTY.with("phase", "Pending"));
    }

    @Override
    public JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        return withDefaults(object).update("spec", PersistentVolumeClaimStrategy::withBothSources);
    }

    /** Old clients and provisioners know only {@code dataSource}, newer ones only {@code dataSourceRef}, so each gets the other's value. */
    private static JsonObject withBothSources(JsonObject given) {
        JsonObject spec = given;
        if (spec.has(SOURCE) && !isClaimOrSnapshot(spec.object(SOURCE))) {
            // Ignored, as in Kubernetes: only the newer field may have other kinds.
            spec = spec.without(SOURCE);
        }
        if (spec.has(SOURCE) && !spec.has(SOURCE_REF)) {
            return spec.with(SOURCE_REF, spec.object(SOURCE));
        }
        JsonObject reference = spec.object(SOURCE_REF);
        boolean local = spec.has(SOURCE_REF) && reference.text("namespace").isEmpty();
        return local && !spec.has(SOURCE) ? spec.with(SOURCE, reference.without("namespace")) : spec;
    }

    private static boolean isClaimOrSnapshot(JsonObject source) {
        String group = source.text("apiGroup");
        return switch (source.text("kind")) {
            case "PersistentVolumeClaim" -> group.isEmpty();
            case "VolumeSnapshot" -> group.equals("snapshot.storage.k8s.io");
            default -> false;
        };
    }

    @Override
    public List<FieldError> validate(JsonObject claim) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = claim.object("spec");
        AccessModes.check(spec, errors);
        if (!requests(spec).has(StorageSize.STORAGE)) {
            errors.add(FieldError.required("spec.resources[storage]", ""));
        }
        return errors;
    }

    @Override
    public List<FieldError> validateCreate(JsonObject claim) {
        List<FieldError> errors = new ArrayList<>();
        checkSize(claim.object("spec"), errors);
        return errors;
    }

    private static JsonObject requests(JsonObject spec) {
        return spec.object("resources").object("requests");
    }

    private static void checkSize(JsonObject spec, List<FieldError> errors) {
        String path = "spec.resources[storage]";
        StorageSize.fault(path, requests(spec)).ifPresent(errors::add);
        Quantity size = StorageSize.of(requests(spec));
        if (size.value().stripTrailingZeros().scale() > 0) {
            errors.add(FieldError.invalid(path, AccessModes.quoted(size.toString()), "must be an integer"));
        }
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject claim, JsonObject old) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = claim.object("spec");
        // Earlier servers left one source alone.
        JsonObject before = withBothSources(old.object("spec"));
        if (!isAllowed(spec, before, old.object("status").text("phase").equals("Bound"))) {
            errors.add(FieldError.forbidden(
                    "spec",
                    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound"
                            + " claims"));
        }
        Quantity size = StorageSize.of(requests(spec));
        int grown = size.compareTo(StorageSize.of(requests(before)));
        if (grown != 0) {
            checkSize(spec, errors);
        }
        // After an expansion that failed a claim may ask for less again, but for more than it has.
        Quantity actual = StorageSize.of(old.object("status").object("capacity"));
        if (grown < 0 && size.compareTo(actual) <= 0) {
            errors.add(FieldError.forbidden(
                    "spec.resources.requests.storage", "field can not be less than status.capacity"));
        }
        // Attributes that the volume has cannot be taken away, only replaced.
        if (old.object("status").has("currentVolumeAttributesClassName")
                && before.has(ATTRIBUTES)
                && spec.text(ATTRIBUTES).isEmpty()) {
            errors.add(FieldError.forbidden(
                    "spec." + ATTRIBUTES,
                    "update to " + (spec.has(ATTRIBUTES) ? "empty string" : "nil")
                            + " is forbidden when status.currentVolumeAttributesClassName is not nil"));
        }
        return errors;
    }

    /** Whether {@code spec} may follow {@code before}: a controller sets the volume and the class of a claim that has none. */
    private static boolean isAllowed(JsonObject spec, JsonObject before, boolean bound) {
        return (before.text(VOLUME).isEmpty() || before.text(VOLUME).equals(spec.text(VOLUME)))
                && (!before.has(CLASS) || before.get(CLASS).equals(spec.get(CLASS)))
                && (bound || before.get(ATTRIBUTES).equals(spec.get(ATTRIBUTES)))
                && SemanticEquality.of(fixed(spec, bound), fixed(before, bound), SPEC);
    }

    /** What of {@code spec} may not change at all. */
    private static JsonObject fixed(JsonObject spec, boolean bound) {
        JsonObject fixed = spec.without(VOLUME).without(CLASS).without(ATTRIBUTES);
        return bound
                ? fixed.update(
                        "resources",
                        resources -> resources.update("requests", requests -> requests.without(StorageSize.STORAGE)))
                : fixed;
    }
}
