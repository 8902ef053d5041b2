package io.nodekeeper.agent.pods.model;

import io.nodekeeper.api.AppArmorProfiles;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.config.SecurityProfile;
import java.util.Optional;
import java.util.stream.Stream;

/** The AppArmor profiles that pods ask for: by fields, and by the annotations that came before the fields. As a kubelet's. */
public final class AppArmor {
    private AppArmor() {}

    /**
     * The profile of {@code container}: that of its own field, else that of its annotation, which a static pod may have without a
     * field, else that of the pod. Empty for none.
     */
    public static Optional<SecurityProfile> profile(Pod pod, ContainerSpec container) {
        String annotation = pod.annotations().getOrDefault(AppArmorProfiles.PREFIX + container.name(), "");
        return profile(AppArmorProfiles.of(container.json()))
                .or(() -> AppArmorProfiles.field(annotation).flatMap(AppArmor::profile))
                .or(() -> profile(AppArmorProfiles.of(pod.spec())));
    }

    /** Whether a container of {@code pod} is to be confined, so that the node must have AppArmor. */
    public static boolean isRequired(Pod pod) {
        return Stream.concat(pod.allContainers().stream(), pod.ephemeralContainers().stream())
                .flatMap(container -> profile(pod, container).stream())
                .anyMatch(profile -> profile.type() != SecurityProfile.Type.UNCONFINED);
    }

    private static Optional<SecurityProfile> profile(JsonObject field) {
        return switch (field.text("type")) {
            case "RuntimeDefault" -> Optional.of(SecurityProfile.RUNTIME_DEFAULT);
            case "Unconfined" -> Optional.of(SecurityProfile.UNCONFINED);
            case "Localhost" -> Optional.of(SecurityProfile.localhost(field.text("localhostProfile")));
            default -> Optional.empty();
        };
    }
}
