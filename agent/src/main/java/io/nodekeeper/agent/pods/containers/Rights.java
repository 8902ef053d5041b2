package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.pods.model.AppArmor;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.config.ContainerConfig;
import io.nodekeeper.cri.config.SandboxOptions;
import io.nodekeeper.cri.config.SecurityProfile;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Combines the security contexts of a pod and of a container; the container's fields have precedence. */
final class Rights {
    private Rights() {}

    /**
     * The rights of a container of {@code image}.
     *
     * @param seccomp which filters of system calls the node has
     * @param target the container whose processes it sees
     * @throws ContainerConfigException if it must not run as root and would
     */
    static ContainerConfig.Security of(
            Pod pod, ContainerSpec container, Image image, Seccomp seccomp, Optional<String> target) {
        JsonObject shared = pod.spec().object("securityContext");
        JsonObject own = container.json().object("securityContext");
        boolean privileged = own.bool("privileged");
        OptionalLong user = number(own, shared, "runAsUser");
        checkNotRoot(own, shared, user, image, container.name());
        List<Long> groups = new ArrayList<>(numbers(shared.array("supplementalGroups")));
        shared.number("fsGroup").ifPresent(groups::add);
        JsonObject capabilities = own.object("capabilities");
        SandboxOptions.Namespaces namespaces = Sandboxes.namespaces(pod);
        return new ContainerConfig.Security(
                privileged,
                target.map(namespaces::targeting).orElse(namespaces),
                user.isPresent() ? user : ofImage(image),
                user.isPresent() ? "" : image.userName(),
                number(own, shared, "runAsGroup"),
                groups,
                pod.strictGroups(),
                own.bool("readOnlyRootFilesystem"),
                own.has("allowPrivilegeEscalation") && !own.bool("allowPrivilegeEscalation"),
                capabilities.array("add").strings().toList(),
                capabilities.array("drop").strings().toList(),
                seccomp.of(pod, container),
                appArmor(pod, container),
                SelinuxLabels.of(own).or(() -> SelinuxLabels.of(shared)),
                !privileged && !own.text("procMount").equals("Unmasked"));
    }

    /** The user that an image names by number, or root if it names none. A group needs a user beside it. */
    private static OptionalLong ofImage(Image image) {
        return image.user().isEmpty() && image.userName().isEmpty() ? OptionalLong.of(0) : image.user();
    }

    private static Optional<SecurityProfile> appArmor(Pod pod, ContainerSpec container) {
        Optional<SecurityProfile> profile = AppArmor.profile(pod, container);
        boolean nameless = profile.filter(asked -> asked.type() == SecurityProfile.Type.LOCALHOST
                        && asked.reference().isBlank())
                .isPresent();
        if (nameless) {
            throw new ContainerConfigException("missing localhost apparmor profile name");
        }
        return profile;
    }

    private static void checkNotRoot(
            JsonObject own, JsonObject shared, OptionalLong user, Image image, String container) {
        boolean notRoot = own.has("runAsNonRoot") ? own.bool("runAsNonRoot") : shared.bool("runAsNonRoot");
        if (!notRoot) {
            return;
        }
        if (user.isPresent() && user.getAsLong() == 0) {
            throw new ContainerConfigException(
                    "container's runAsUser breaks non-root policy (container: " + container + ")");
        }
        if (user.isEmpty() && !image.userName().isEmpty()) {
            throw new ContainerConfigException("container has runAsNonRoot and image has non-numeric user ("
                    + image.userName() + "), cannot verify user is non-root (container: " + container + ")");
        }
        if (user.isEmpty() && image.user().orElse(0) == 0) {
            throw new ContainerConfigException(
                    "container has runAsNonRoot and image will run as root (container: " + container + ")");
        }
    }

    private static OptionalLong number(JsonObject own, JsonObject shared, String field) {
        return own.number(field)
                .or(() -> shared.number(field))
                .map(OptionalLong::of)
                .orElse(OptionalLong.empty());
    }

    private static List<Long> numbers(JsonArray array) {
        return array.items().stream()
                .filter(item -> item instanceof JsonNumber number && number.isLong())
                .map(item -> ((JsonNumber) item).longValue())
                .toList();
    }
}
