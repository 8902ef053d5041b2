package io.nodekeeper.apiserver.registry;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/** The rules for the metadata of every kind. */
public final class ObjectMetaRules {
    /** The most bytes of annotations (Kubernetes' limit). */
    private static final int ANNOTATION_BYTES = 262_144;

    private static final String SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";
    private static final int GENERATED_PREFIX = 58;
    private static final List<String> IMMUTABLE =
            List.of("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds");

    /** The fields that only the server sets. */
    private static final List<String> SERVERS = List.of(
            "name",
            "namespace",
            "generateName",
            "generation",
            "uid",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds");

    /** Finalizers without a prefix (Kubernetes' own). */
    private static final List<String> FINALIZERS = List.of("kubernetes", "orphan", "foregroundDeletion");

    private static final List<String> OWNER = List.of("apiVersion", "kind", "name", "uid");

    private ObjectMetaRules() {}

    /** The metadata of a new object. */
    public static JsonObject forCreate(JsonObject object, String namespace, Instant now, RandomGenerator random) {
        return object.update("metadata", metadata -> {
            JsonObject.Builder result = metadata.toBuilder();
            String prefix = metadata.text("generateName");
            if (metadata.text("name").isEmpty() && !prefix.isEmpty()) {
                result.put("name", prefix.substring(0, Math.min(prefix.length(), GENERATED_PREFIX)) + suffix(random));
            }
            if (!namespace.isEmpty()) {
                result.put("namespace", namespace);
            }
            return result.remove("resourceVersion")
                    .remove("deletionTimestamp")
                    .remove("deletionGracePeriodSeconds")
                    .remove("selfLink")
                    .remove("managedFields")
                    .put("uid", uuid(random))
                    .put("creationTimestamp", KubeTime.format(now))
                    .build();
        });
    }

    /**
     * The metadata of an object that replaces {@code old}, from which it takes the fields that only the server sets.
     */
    public static JsonObject forUpdate(JsonObject object, JsonObject old) {
        JsonObject before = old.object("metadata");
        return object.update("metadata", metadata -> {
            JsonObject.Builder result = metadata.toBuilder().remove("selfLink").remove("managedFields");
            for (String field : SERVERS) {
                before.get(field).ifPresentOrElse(value -> result.put(field, value), () -> result.remove(field));
            }
            return result.build();
        });
    }

    /** Refuses a patch of immutable fields. */
    public static List<FieldError> validateUpdate(JsonObject asked, JsonObject old) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject metadata = asked.object("metadata");
        JsonObject before = old.object("metadata");
        for (String field : IMMUTABLE) {
            JsonValue value = metadata.get(field).orElse(null);
            if (value != null && !value.equals(before.get(field).orElse(null))) {
                errors.add(FieldError.invalid("metadata." + field, value.toString(), "field is immutable"));
            }
        }
        if (before.has("deletionTimestamp")) {
            Set<String> known =
                    new HashSet<>(before.array("finalizers").strings().toList());
            List<String> added = metadata.array("finalizers")
                    .strings()
                    .filter(finalizer -> !known.contains(finalizer))
                    .toList();
            if (!added.isEmpty()) {
                errors.add(FieldError.forbidden(
                        "metadata.finalizers",
                        "no new finalizers can be added if the object is being deleted, found new finalizers []string{"
                                + String.join(
                                        ", ",
                                        added.stream()
                                                .map(ObjectMetaRules::quoted)
                                                .toList())
                                + "}"));
            }
        }
        return errors;
    }

    public static List<FieldError> validate(Resource resource, JsonObject object) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject metadata = object.object("metadata");
        String name = metadata.text("name");
        if (name.isEmpty()) {
            errors.add(FieldError.required("metadata.name", "name or generateName is required"));
        } else {
            resource.strategy()
                    .nameFault(name)
                    .ifPresent(fault -> errors.add(FieldError.invalid("metadata.name", quoted(name), fault)));
        }
        generated(resource, metadata.text("generateName"), errors);
        metadata.object("labels").texts().forEach((key, value) -> {
            Names.qualifiedFault(key)
                    .ifPresent(fault -> errors.add(FieldError.invalid("metadata.labels", quoted(key), fault)));
            Names.labelValueFault(value)
                    .ifPresent(fault -> errors.add(FieldError.invalid("metadata.labels", quoted(value), fault)));
        });
        Map<String, String> annotations = metadata.object("annotations").texts();
        annotations
                .keySet()
                .forEach(key -> Names.annotationFault(key)
                        .ifPresent(
                                fault -> errors.add(FieldError.invalid("metadata.annotations", quoted(key), fault))));
        if (!fit(annotations)) {
            errors.add(FieldError.tooLong("metadata.annotations", ANNOTATION_BYTES + " bytes"));
        }
        metadata.array("finalizers")
                .strings()
                .forEach(finalizer -> finalizerFault(finalizer)
                        .ifPresent(fault ->
                                errors.add(FieldError.invalid("metadata.finalizers", quoted(finalizer), fault))));
        owners(metadata, errors);
        return errors;
    }

    /**
     * Checks a generateName prefix: it may end with a dash, because a suffix follows; otherwise it must be a valid
     * name.
     */
    private static void generated(Resource resource, String prefix, List<FieldError> errors) {
        if (prefix.isEmpty()) {
            return;
        }
        boolean dash = prefix.length() > 1 && prefix.endsWith("-");
        String masked = dash ? prefix.substring(0, prefix.length() - 2) + "a" : prefix;
        resource.strategy()
                .nameFault(masked)
                .ifPresent(fault -> errors.add(FieldError.invalid("metadata.generateName", quoted(prefix), fault)));
    }

    private static Optional<String> finalizerFault(String finalizer) {
        Optional<String> fault = Names.qualifiedFault(finalizer);
        return fault.isPresent() || finalizer.contains("/") || FINALIZERS.contains(finalizer)
                ? fault
                : Optional.of("name is neither a standard finalizer name nor is it fully qualified");
    }

    private static void owners(JsonObject metadata, List<FieldError> errors) {
        int controllers = 0;
        for (JsonValue item : metadata.array("ownerReferences").items()) {
            if (item instanceof JsonObject owner) {
                for (String field : OWNER) {
                    if (owner.text(field).isEmpty()) {
                        errors.add(FieldError.invalid(
                                "metadata.ownerReferences." + field,
                                "\"\"",
                                (field.equals("apiVersion") ? "version" : field) + " must not be empty"));
                    }
                }
                controllers += owner.bool("controller") ? 1 : 0;
            }
        }
        if (controllers > 1) {
            errors.add(FieldError.invalid(
                    "metadata.ownerReferences",
                    metadata.array("ownerReferences").toString(),
                    "Only one reference can have Controller set to true"));
        }
    }

    /** Refuses a body whose name or namespace differs from the URL's. */
    public static void checkPlace(JsonObject object, String namespace, String name) {
        JsonObject metadata = object.object("metadata");
        String bodyNamespace = metadata.text("namespace");
        if (!bodyNamespace.isEmpty() && !bodyNamespace.equals(namespace)) {
            throw ApiException.badRequest(
                    "the namespace of the provided object does not match the namespace sent on the request");
        }
        String bodyName = metadata.text("name");
        if (!name.isEmpty() && !bodyName.isEmpty() && !bodyName.equals(name)) {
            throw ApiException.badRequest(
                    "the name of the object (" + bodyName + ") does not match the name on the URL (" + name + ")");
        }
    }

    /** A random UUID (RFC 9562, version 4). */
    public static String uuid(RandomGenerator random) {
        byte[] bytes = new byte[16];
        random.nextBytes(bytes);
        bytes[6] = (byte) ((bytes[6] & 0x0f) | 0x40);
        bytes[8] = (byte) ((bytes[8] & 0x3f) | 0x80);
        String hex = HexFormat.of().formatHex(bytes);
        return hex.substring(0, 8) + "-" + hex.substring(8, 12) + "-" + hex.substring(12, 16) + "-"
                + hex.substring(16, 20) + "-" + hex.substring(20);
    }

    /** Five random characters, the suffix of generated names. */
    public static String suffix(RandomGenerator random) {
        StringBuilder suffix = new StringBuilder();
        for (int i = 0; i < 5; i++) {
            suffix.append(SUFFIX_LETTERS.charAt(random.nextInt(SUFFIX_LETTERS.length())));
        }
        return suffix.toString();
    }

    /** Whether an object may have these annotations, by their size. */
    public static boolean fit(Map<String, String> annotations) {
        long bytes = 0;
        for (Map.Entry<String, String> annotation : annotations.entrySet()) {
            bytes += length(annotation.getKey()) + length(annotation.getValue());
        }
        return bytes <= ANNOTATION_BYTES;
    }

    private static int length(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    private static String quoted(String text) {
        return new JsonString(text).toString();
    }
}
