package io.nodekeeper.api;

import io.nodekeeper.api.json.JsonObject;
import java.util.Optional;

/**
 * The two forms of a container's AppArmor profile: a field of its security context, and before Kubernetes 1.30 an annotation of
 * its pod. Translates them, without checking names of profiles. Pure.
 */
public final class AppArmorProfiles {
    /** The field of a security context. */
    public static final String FIELD = "appArmorProfile";
    /** What the key of an annotation has before the container's name. */
    public static final String PREFIX = "container.apparmor.security.beta.kubernetes.io/";

    private static final String LOCALHOST = "localhost/";

    private AppArmorProfiles() {}

    /** The profile of a pod's spec or of a container, as its field has it; empty if there is none. */
    public static JsonObject of(JsonObject holder) {
        return holder.object("securityContext").object(FIELD);
    }

    /** The field for the text of an annotation; empty if it has none of the three forms. */
    public static Optional<JsonObject> field(String annotation) {
        JsonObject.Builder profile = JsonObject.builder();
        if (annotation.startsWith(LOCALHOST)) {
            return Optional.of(profile.put("type", "Localhost")
                    .put("localhostProfile", annotation.substring(LOCALHOST.length()))
                    .build());
        }
        return switch (annotation) {
            case "runtime/default" ->
                Optional.of(profile.put("type", "RuntimeDefault").build());
            case "unconfined" -> Optional.of(profile.put("type", "Unconfined").build());
            default -> Optional.empty();
        };
    }

    /** The text of the annotation for a field; empty if its type is unknown, or Localhost without a name. */
    public static Optional<String> annotation(JsonObject profile) {
        return switch (profile.text("type")) {
            case "RuntimeDefault" -> Optional.of("runtime/default");
            case "Unconfined" -> Optional.of("unconfined");
            case "Localhost" ->
                Optional.of(profile.text("localhostProfile"))
                        .filter(name -> !name.isEmpty())
                        .map(name -> LOCALHOST + name);
            default -> Optional.empty();
        };
    }
}
