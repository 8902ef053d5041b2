package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Validates containers. */
final class ContainerRules {
    private static final List<String> PULL_POLICIES = List.of("Always", "IfNotPresent", "Never");
    private static final List<String> PROTOCOLS = List.of("SCTP", "TCP", "UDP");
    private static final List<String> MESSAGE_POLICIES = List.of("File", "FallbackToLogsOnError");
    /** The fields that only containers which run as long as the pod can have. */
    private static final List<String> OF_RUNNING =
            List.of("lifecycle", "livenessProbe", "readinessProbe", "startupProbe");

    /** The fields that ephemeral containers cannot have. */
    private static final List<String> NOT_EPHEMERAL = List.of(
            "ports",
            "resources",
            "lifecycle",
            "livenessProbe",
            "readinessProbe",
            "startupProbe",
            "restartPolicy",
            "resizePolicy");

    private static final String EPHEMERAL = "cannot be set for an Ephemeral Container";

    private final FieldCheck spec;
    private final Map<String, JsonObject> volumes;
    private final Set<String> claims;
    private final long graceSeconds;

    ContainerRules(FieldCheck spec, Map<String, JsonObject> volumes, Set<String> claims) {
        this.spec = spec;
        this.volumes = volumes;
        this.claims = claims;
        graceSeconds = spec.number("terminationGracePeriodSeconds").orElse(0L);
    }

    void check() {
        Set<String> names = containers();
        initContainers(names);
        ephemeralContainers(names);
    }

    private Set<String> containers() {
        List<FieldCheck> containers = spec.items("containers");
        if (containers.isEmpty()) {
            spec.required("containers", "");
        }
        Set<String> names = new HashSet<>();
        Set<String> ports = new HashSet<>();
        for (FieldCheck container : containers) {
            common(container);
            if (!names.add(container.text("name"))) {
                container.duplicate("name", container.text("name"));
            }
            ProbeRules.check(container, graceSeconds);
            if (container.has("restartPolicy")) {
                container.forbidden("restartPolicy", "may not be set for non-init containers");
            }
            hostPorts(container, ports);
        }
        return names;
    }

    private void initContainers(Set<String> names) {
        for (FieldCheck container : spec.items("initContainers")) {
            common(container);
            boolean sidecar = container.text("restartPolicy").equals("Always");
            if (container.has("restartPolicy")) {
                container.oneOf("restartPolicy", List.of("Always"));
            }
            String name = container.text("name");
            if (!name.isEmpty() && !names.add(name)) {
                container.duplicate("name", name);
            }
            // Init containers run one after the other, so their ports do not conflict.
            hostPorts(container, new HashSet<>());
            if (sidecar) {
                ProbeRules.check(container, graceSeconds);
            } else {
                OF_RUNNING.stream()
                        .filter(container::has)
                        .forEach(field -> container.forbidden(
                                field, "may not be set for init containers without restartPolicy=Always"));
            }
            if (!container.value().array("resizePolicy").isEmpty() && !sidecar) {
                container.invalid("resizePolicy", "must not be set for init containers");
            }
        }
    }

    /** The names that ephemeral containers may target are {@code names}; all names are unique. */
    private void ephemeralContainers(Set<String> names) {
        Set<String> all = new HashSet<>(names);
        for (FieldCheck container : spec.items("ephemeralContainers")) {
            common(container);
            String image = container.text("image");
            if (!image.strip().equals(image)) {
                container.invalid("image", "must not have leading or trailing whitespace");
            }
            String name = container.text("name");
            if (!all.add(name)) {
                container.duplicate("name", name);
            }
            String target = container.text("targetContainerName");
            if (!target.isEmpty() && !names.contains(target)) {
                container.notFound("targetContainerName", target);
            }
            NOT_EPHEMERAL.stream()
                    .filter(field -> isSet(container.value(), field))
                    .forEach(field -> container.forbidden(field, EPHEMERAL));
            for (FieldCheck mount : container.items("volumeMounts")) {
                for (String field : List.of("subPath", "subPathExpr")) {
                    if (!mount.text(field).isEmpty()) {
                        mount.forbidden(field, EPHEMERAL);
                    }
                }
            }
        }
    }

    /** Empty lists and objects are not set. */
    private static boolean isSet(JsonObject container, String field) {
        return container.has(field)
                && !(container.array(field).isEmpty()
                        && container.object(field).isEmpty()
                        && container.text(field).isEmpty());
    }

    private void common(FieldCheck container) {
        container.requiredLabel("name");
        container.require("image");
        container.oneOf("terminationMessagePolicy", MESSAGE_POLICIES);
        ports(container);
        EnvRules.check(container);
        MountRules.check(container, volumes);
        container.oneOf("imagePullPolicy", PULL_POLICIES);
        ResourceRules.check(container.object("resources"), claims);
        ResourceRules.resizePolicy(container);
        SecurityRules.container(container);
    }

    private static void ports(FieldCheck container) {
        Set<String> names = new HashSet<>();
        for (FieldCheck port : container.items("ports")) {
            String name = port.text("name");
            if (!name.isEmpty() && ProbeRules.portName(port, "name", name) && !names.add(name)) {
                port.duplicate("name", name);
            }
            long number = port.number("containerPort").orElse(0L);
            if (number == 0) {
                port.required("containerPort", "");
            } else {
                ProbeRules.portNumber(port, "containerPort", number);
            }
            port.number("hostPort")
                    .filter(host -> host != 0)
                    .ifPresent(host -> ProbeRules.portNumber(port, "hostPort", host));
            port.oneOf("protocol", PROTOCOLS);
            port.formIfSet("hostIP", NetworkRules::ipFault);
        }
    }

    private static void hostPorts(FieldCheck container, Set<String> taken) {
        for (FieldCheck port : container.items("ports")) {
            long number = port.number("hostPort").orElse(0L);
            String whole = port.text("protocol") + "/" + port.text("hostIP") + "/" + number;
            if (number != 0 && !taken.add(whole)) {
                port.duplicate("hostPort", whole);
            }
        }
    }
}
