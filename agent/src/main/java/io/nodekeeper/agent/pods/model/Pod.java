package io.nodekeeper.agent.pods.model;

import io.nodekeeper.agent.config.SysctlPattern;
import io.nodekeeper.api.ApiObject;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A pod of the API, or of a file in the same form. Defaults are those of the API. Immutable. */
public record Pod(JsonObject json) implements ApiObject {
    /** {@code status.phase} of a pod that has not started all of its containers. */
    public static final String PENDING = "Pending";
    /** See {@link #PENDING}: a container runs or will run again. */
    public static final String RUNNING = "Running";
    /** See {@link #PENDING}: all containers ended with 0 and will not run again. */
    public static final String SUCCEEDED = "Succeeded";
    /** See {@link #PENDING}: all containers ended, one of them with an error. */
    public static final String FAILED = "Failed";

    /** The annotation of Kubernetes that marks the API's copy of a static pod, with the static pod's hash. */
    public static final String CONFIG_MIRROR = "kubernetes.io/config.mirror";

    /** The annotation of Kubernetes that names the source of a pod. */
    private static final String CONFIG_SOURCE = "kubernetes.io/config.source";

    /** The lowest priority of Kubernetes' own classes. */
    private static final long CRITICAL = 2_000_000_000L;
    /** Kubernetes' default grace period. */
    private static final long GRACE_SECONDS = 30;

    /** When the node starts a container again that has ended. */
    public enum RestartPolicy {
        /** Always; the default. */
        ALWAYS,
        /** If it ended with an error. */
        ON_FAILURE,
        /** Never. */
        NEVER
    }

    /** {@code spec.containers}. */
    public List<ContainerSpec> containers() {
        return spec().array("containers").objects().map(ContainerSpec::new).toList();
    }

    /** {@code spec.initContainers}, sidecars included. */
    public List<ContainerSpec> initContainers() {
        return spec().array("initContainers").objects().map(ContainerSpec::new).toList();
    }

    /** {@code spec.ephemeralContainers}: they are added to a pod that runs, and are never started again. */
    public List<ContainerSpec> ephemeralContainers() {
        return spec().array("ephemeralContainers")
                .objects()
                .map(ContainerSpec::new)
                .toList();
    }

    /** The init containers, then the containers. */
    public List<ContainerSpec> allContainers() {
        return Stream.concat(initContainers().stream(), containers().stream()).toList();
    }

    /** The container, init container or ephemeral container of that name. */
    public Optional<ContainerSpec> container(String name) {
        return everyContainer()
                .filter(container -> container.name().equals(name))
                .findFirst();
    }

    /** All containers, init containers and ephemeral containers by name: {@link #container} looks at each of them. */
    public Map<String, ContainerSpec> containersByName() {
        return everyContainer().collect(Collectors.toMap(ContainerSpec::name, each -> each, (first, second) -> first));
    }

    private Stream<ContainerSpec> everyContainer() {
        return Stream.concat(allContainers().stream(), ephemeralContainers().stream());
    }

    /** The condition types of {@code spec.readinessGates}, which must be True for the pod to be Ready. */
    public List<String> readinessGates() {
        return spec().array("readinessGates")
                .objects()
                .map(gate -> gate.text("conditionType"))
                .toList();
    }

    /** Whether its spec is not known: it was left out for lack of memory, or only the runtime has the pod. */
    public boolean isOutline() {
        return !json.has("spec");
    }

    /** {@code spec.restartPolicy}. */
    public RestartPolicy restartPolicy() {
        return switch (spec().text("restartPolicy")) {
            case "Never" -> RestartPolicy.NEVER;
            case "OnFailure" -> RestartPolicy.ON_FAILURE;
            default -> RestartPolicy.ALWAYS;
        };
    }

    /** {@code spec.enableServiceLinks}; true if absent. */
    public boolean serviceLinks() {
        return !spec().has("enableServiceLinks") || spec().bool("enableServiceLinks");
    }

    /** Whether the node has it from a manifest, and not from the API. */
    public boolean isStatic() {
        String source = annotations().getOrDefault(CONFIG_SOURCE, "api");
        return !source.equals("api") && !isMirror();
    }

    /** The names of the Secrets in {@code spec.imagePullSecrets}. */
    public List<String> imagePullSecrets() {
        return spec().array("imagePullSecrets")
                .objects()
                .map(secret -> secret.text("name"))
                .filter(name -> !name.isEmpty())
                .distinct()
                .toList();
    }

    /** {@code spec.hostNetwork}. */
    public boolean hostNetwork() {
        return spec().bool("hostNetwork");
    }

    /** The value of each sysctl in {@code spec.securityContext.sysctls}, by its name with dots. */
    public Map<String, String> sysctls() {
        Map<String, String> sysctls = new LinkedHashMap<>();
        spec().object("securityContext")
                .array("sysctls")
                .objects()
                .forEach(sysctl -> sysctls.put(SysctlPattern.dotted(sysctl.text("name")), sysctl.text("value")));
        return sysctls;
    }

    /** Whether its processes have only the groups that the pod names, and not those that the image gives their user. */
    public boolean strictGroups() {
        return spec().object("securityContext").text("supplementalGroupsPolicy").equals("Strict");
    }

    /** {@code status.phase}; {@code Pending} if absent. */
    public String phase() {
        String phase = status().text("phase");
        return phase.isEmpty() ? PENDING : phase;
    }

    /** Whether the phase says that nothing of the pod will run again. */
    public boolean isTerminal() {
        return phase().equals(SUCCEEDED) || phase().equals(FAILED);
    }

    /** Whether it may start: it is not deleted and has not ended. */
    public boolean mayStart() {
        return deletionTimestamp().isEmpty() && !isTerminal();
    }

    /** {@code metadata.deletionTimestamp}: when the grace period of its deletion ends. */
    public Optional<Instant> deletionTimestamp() {
        return KubeTime.parse(metadata().text("deletionTimestamp"));
    }

    /** The time that containers have to end: that of the deletion, else {@code spec.terminationGracePeriodSeconds}. */
    public Duration grace() {
        long seconds = metadata()
                .number("deletionGracePeriodSeconds")
                .or(() -> spec().number("terminationGracePeriodSeconds"))
                .orElse(GRACE_SECONDS);
        // As in Kubernetes, containers always get a moment. The API accepts 292 billion years, but timers count
        // nanoseconds.
        return Duration.ofSeconds(Math.clamp(seconds, 1, Integer.MAX_VALUE));
    }

    /** Whether it is one of the system's, which a node never evicts. */
    public boolean isCritical() {
        return priority() >= CRITICAL;
    }

    /** {@code spec.priority}; 0 if absent. */
    public long priority() {
        return spec().number("priority").orElse(0L);
    }

    /**
     * What the pod requests of a resource, as the scheduler counts it: containers and sidecars together, or what an init
     * container needs beside the sidecars before it, if that is more; and in any case the {@link #overhead}.
     */
    public Quantity request(String resource) {
        return requestOfContainers(resource).plus(overhead(resource));
    }

    /** As {@link #request}, without the overhead. */
    public Quantity requestOfContainers(String resource) {
        return total(container -> container.request(resource).orElse(Quantity.ZERO));
    }

    /** {@code spec.overhead}: what the sandbox itself uses, by the pod's RuntimeClass. */
    public Quantity overhead(String resource) {
        return spec().object("overhead").get(resource).flatMap(Quantity::from).orElse(Quantity.ZERO);
    }

    /** The names of all resources that it requests or limits, its overhead included. */
    public Set<String> requested() {
        Set<String> names = new TreeSet<>(spec().object("overhead").fields().keySet());
        allContainers().forEach(container -> names.addAll(container.requested()));
        return names;
    }

    /** The sum of limits, counted as {@link #request}, the overhead included; empty if a container has none, or one of 0. */
    public Optional<Quantity> limit(String resource) {
        boolean all = allContainers().stream()
                .allMatch(container -> container
                        .limit(resource)
                        .filter(amount -> !amount.isZero())
                        .isPresent());
        return all ? Optional.of(limitOfContainers(resource).plus(overhead(resource))) : Optional.empty();
    }

    /** What the status of the pod says of its container of that name; empty if it says nothing. */
    public JsonObject reported(String container) {
        return Stream.of("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
                .flatMap(list -> status().array(list).objects())
                .filter(entry -> entry.text("name").equals(container))
                .findFirst()
                .orElse(JsonObject.EMPTY);
    }

    /** The sum of the limits that there are, counted as {@link #request}, without the overhead. */
    public Quantity limitOfContainers(String resource) {
        return total(container -> container.limit(resource).orElse(Quantity.ZERO));
    }

    private Quantity total(Function<ContainerSpec, Quantity> amount) {
        Quantity sidecars = Quantity.ZERO;
        Quantity most = Quantity.ZERO;
        for (ContainerSpec init : initContainers()) {
            Quantity own = amount.apply(init);
            if (init.isSidecar()) {
                sidecars = sidecars.plus(own);
            }
            Quantity beside = init.isSidecar() ? sidecars : sidecars.plus(own);
            most = beside.compareTo(most) > 0 ? beside : most;
        }
        Quantity sum = containers().stream().map(amount).reduce(sidecars, Quantity::plus);
        return sum.compareTo(most) > 0 ? sum : most;
    }

    /** Whether it is the API's copy of a static pod. */
    public boolean isMirror() {
        return annotations().containsKey(CONFIG_MIRROR);
    }

    /** Of the API's copy of a static pod: the static pod's hash; empty for others. */
    public String mirrorHash() {
        return annotations().getOrDefault(CONFIG_MIRROR, "");
    }

    /** {@code NAMESPACE/NAME}. */
    public String fullName() {
        return namespace() + "/" + name();
    }
}
