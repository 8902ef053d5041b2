package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.config.SecurityProfile;
import java.nio.file.Path;
import java.util.List;

/**
 * Which filter of system calls containers have, by a kubelet's rules. Immutable.
 *
 * @param profiles the directory of the node's own profiles
 * @param byDefault whether containers that ask for nothing have the runtime's filter ({@code seccompDefault})
 */
public record Seccomp(Path profiles, boolean byDefault) {
    private static final String FIELD = "seccompProfile";

    /** The filter settings of an agent with that root directory. */
    public static Seccomp of(Path rootDir, boolean byDefault) {
        return new Seccomp(rootDir.resolve("seccomp"), byDefault);
    }

    /**
     * The filter of {@code container}; its own field counts before the pod's.
     *
     * @throws ContainerConfigException if the node's profile is not named, or by a path that leads out of the directory
     */
    SecurityProfile of(Pod pod, ContainerSpec container) {
        JsonObject own = container.json().object("securityContext");
        JsonObject shared = pod.spec().object("securityContext");
        if (!own.has(FIELD) && !shared.has(FIELD)) {
            return byDefault ? SecurityProfile.RUNTIME_DEFAULT : SecurityProfile.UNCONFINED;
        }
        JsonObject profile = (own.has(FIELD) ? own : shared).object(FIELD);
        return switch (profile.text("type")) {
            case "RuntimeDefault" -> SecurityProfile.RUNTIME_DEFAULT;
            case "Localhost" -> SecurityProfile.localhost(file(profile.text("localhostProfile")));
            default -> SecurityProfile.UNCONFINED;
        };
    }

    private String file(String name) {
        if (name.isEmpty()) {
            throw new ContainerConfigException("localhostProfile must be set if seccompProfile type is Localhost.");
        }
        if (name.startsWith("/")
                || name.indexOf('\0') >= 0
                || List.of(name.split("/")).contains("..")) {
            // The API refuses such a path; a manifest of a static pod may have one.
            throw new ContainerConfigException(
                    "localhostProfile must be a relative path without '..', got \"" + name + "\"");
        }
        return profiles.resolve(name).normalize().toString();
    }
}
