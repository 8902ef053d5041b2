package io.nodekeeper.agent.pods.model;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.config.SecurityProfile;
import java.util.Optional;
import java.util.stream.Stream;

/** The AppArmor profiles that pods ask for: by fields, and by the annotations that came before the fields. As a kubelet's. */
public final class AppArmor {
    private static final String ANNOTATION = "container.apparmor.security.beta.kubernetes.io/";
    private static final String LOCALHOST = "localhost/";
    private static final String FIELD = "appArmorProfile";

    private AppArmor() {}

    /**
     * The profile of {@code container}: that of its own field, else that of its annotation, which a static pod may have without a
     * field, else that of the pod. Empty for none.
     */
    public static Optional<SecurityProfile> profile(Pod pod, ContainerSpec container) {
        return field(container.json())
                .or(() -> annotation(pod.annotations().getOrDefault(ANNOTATION + container.name(), "")))
                .or(() -> field(pod.spec()));
    }

    /** Whether a container of {@code pod} is to be confined, so that the node must have AppArmor. */
    public static boolean isRequired(Pod pod) {
        return Stream.concat(pod.allContainers().stream(), pod.ephemeralContainers().stream())
                .flatMap(container -> profile(pod, container).stream())
                .anyMatch(profile -> profile.type() != SecurityProfile.Type.UNCONFINED);
    }

    private static Optional<SecurityProfile> field(JsonObject holder) {
        JsonObject profile = holder.object("securityContext").object(FIELD);
        return switch (profile.text("type")) {
            case "RuntimeDefault" -> Optional.of(SecurityProfile.RUNTIME_DEFAULT);
            case "Unconfined" -> Optional.of(SecurityProfile.UNCONFINED);
            case "Localhost" -> Optional.of(SecurityProfile.localhost(profile.text("localhostProfile")));
            default -> Optional.empty();
        };
    }

    private static Optional<SecurityProfile> annotation(String text) {
        if (text.startsWith(LOCALHOST)) {
            return Optional.of(SecurityProfile.localhost(text.substring(LOCALHOST.length())));
        }
        return switch (text) {
            case "runtime/default" -> Optional.of(SecurityProfile.RUNTIME_DEFAULT);
            case "unconfined" -> Optional.of(SecurityProfile.UNCONFINED);
            default -> Optional.empty();
        };
    }
}
