package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.AppArmorProfiles;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.FieldCheck;
import io.nodekeeper.apiserver.fields.ObjectFields;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * AppArmor profiles. Since 1.30 they are fields of security contexts; before, they were annotations. A new pod gets
 * both forms, so that older and newer kubelets see the same profile.
 */
public final class AppArmor {
    private static final String PREFIX = AppArmorProfiles.PREFIX;
    private static final String FIELD = AppArmorProfiles.FIELD;
    private static final List<String> TYPES = List.of("Localhost", "RuntimeDefault", "Unconfined");
    private static final List<String> LISTS = List.of("initContainers", "containers", "ephemeralContainers");

    /** The longest profile name: the longest path of Linux (Kubernetes). */
    private static final int LONGEST = 4_095;

    private AppArmor() {}

    /** The pod with an annotation for each profile, and a field for each annotation. */
    public static JsonObject synced(JsonObject pod) {
        if (isWindows(pod.object("spec"))) {
            return pod;
        }
        JsonObject annotations = pod.object("metadata").object("annotations");
        JsonObject.Builder more = annotations.toBuilder();
        Optional<JsonObject> shared = profile(pod.object("spec"));
        JsonObject spec = pod.object("spec");
        for (String list : LISTS) {
            spec = ObjectFields.each(spec, list, container -> {
                String key = PREFIX + container.text("name");
                Optional<JsonObject> own = profile(container);
                if (!annotations.has(key)) {
                    own.or(() -> shared).flatMap(AppArmorProfiles::annotation).ifPresent(text -> more.put(key, text));
                    return container;
                }
                return field(annotations.text(key))
                        .filter(profile ->
                                own.isEmpty() && !Optional.of(profile).equals(shared))
                        .map(profile -> container.update("securityContext", context -> context.with(FIELD, profile)))
                        .orElse(container);
            });
        }
        JsonObject all = more.build();
        JsonObject result = pod.with("spec", spec);
        return all.equals(annotations)
                ? result
                : result.update("metadata", metadata -> metadata.with("annotations", all));
    }

    static boolean isWindows(JsonObject spec) {
        return spec.object("os").text("name").equals("windows");
    }

    private static Optional<JsonObject> profile(JsonObject holder) {
        return Optional.of(AppArmorProfiles.of(holder)).filter(profile -> !profile.isEmpty());
    }

    /** The field for an annotation; empty if the annotation is not valid. */
    private static Optional<JsonObject> field(String annotation) {
        return AppArmorProfiles.field(annotation).filter(profile -> {
            String name = profile.text("localhostProfile");
            return !profile.text("type").equals("Localhost")
                    || !name.isBlank() && name.strip().equals(name);
        });
    }

    /** Checks the annotations of a pod or pod template. */
    static void annotations(FieldCheck metadata, FieldCheck spec) {
        Map<String, FieldCheck> containers = new HashMap<>();
        for (String list : LISTS) {
            spec.items(list).forEach(container -> containers.putIfAbsent(container.text("name"), container));
        }
        metadata.value().object("annotations").texts().forEach((key, text) -> {
            if (!key.startsWith(PREFIX)) {
                return;
            }
            String name = key.substring(PREFIX.length());
            if (!containers.containsKey(name)) {
                metadata.invalid("annotations[" + key + "]", name, "container not found");
            } else if (!text.isEmpty() && AppArmorProfiles.field(text).isEmpty()) {
                metadata.invalid("annotations[" + key + "]", text, "invalid AppArmor profile name: \"" + text + "\"");
            } else if (!isWindows(spec.value())) {
                match(containers.get(name), text);
            }
        });
    }

    /** Checks that the annotation and the field of a container agree. */
    private static void match(FieldCheck container, String annotation) {
        FieldCheck profile = container.object("securityContext").object(FIELD);
        Optional<JsonObject> other = field(annotation);
        if (profile.value().isEmpty() || other.isEmpty()) {
            return;
        }
        if (!profile.text("type").equals(other.get().text("type"))) {
            profile.forbidden("type", "apparmor type in annotation and field must match");
        } else if (profile.text("type").equals("Localhost")
                && !profile.text("localhostProfile").equals(other.get().text("localhostProfile"))) {
            profile.forbidden("localhostProfile", "apparmor profile in annotation and field must match");
        }
    }

    /** Checks the profile of a security context. */
    static void check(FieldCheck context) {
        if (!context.has(FIELD)) {
            return;
        }
        FieldCheck profile = context.object(FIELD);
        String name = profile.text("localhostProfile");
        switch (profile.text("type")) {
            case "" -> profile.required("type", "type is required when appArmorProfile is set");
            case "Localhost" -> {
                if (name.isBlank()) {
                    profile.required("localhostProfile", "must be set when AppArmor type is Localhost");
                } else if (!name.strip().equals(name)) {
                    profile.invalid("localhostProfile", "must not be padded with whitespace");
                }
                if (name.length() > LONGEST) {
                    profile.tooLong("localhostProfile", LONGEST);
                }
            }
            default -> {
                profile.oneOf("type", TYPES);
                if (profile.has("localhostProfile")) {
                    profile.invalid("localhostProfile", "can only be set when AppArmor type is Localhost");
                }
            }
        }
    }
}
