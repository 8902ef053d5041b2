package io.nodekeeper.agent.pods.model;

import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;

/** One entry of {@code spec.containers}, {@code spec.initContainers} or {@code spec.ephemeralContainers}. Immutable. */
public record ContainerSpec(JsonObject json) {
    /** The highest port of TCP. */
    private static final int MOST_PORT = 65_535;

    /** When the node pulls an image. */
    public enum PullPolicy {
        /** Before each start of a container. */
        ALWAYS,
        /** If the node does not have it. */
        IF_NOT_PRESENT,
        /** Never: it must be there. */
        NEVER
    }

    /** {@code name}. */
    public String name() {
        return json.text("name");
    }

    /** Whether it is an init container that continues to run beside the others: {@code restartPolicy: Always}. */
    public boolean isSidecar() {
        return json.text("restartPolicy").equals("Always");
    }

    /** The action of {@code lifecycle.postStart}. */
    public Optional<Action> postStart() {
        return Action.of(json.object("lifecycle").object("postStart"));
    }

    /** The action of {@code lifecycle.preStop}. */
    public Optional<Action> preStop() {
        return Action.of(json.object("lifecycle").object("preStop"));
    }

    /** The number of a port that is given as a number or as the name of one of its ports; empty if there is none. */
    public OptionalInt port(String nameOrNumber) {
        String number = json.array("ports")
                .objects()
                .filter(port -> port.text("name").equals(nameOrNumber))
                .flatMap(port -> port.number("containerPort").stream())
                .findFirst()
                .map(String::valueOf)
                .orElse(nameOrNumber);
        if (!number.matches("\\d{1,5}")) {
            return OptionalInt.empty();
        }
        int port = Integer.parseInt(number);
        return port > 0 && port <= MOST_PORT ? OptionalInt.of(port) : OptionalInt.empty();
    }

    /** {@code terminationMessagePath}, with Kubernetes' default. */
    public String terminationMessagePath() {
        String path = json.text("terminationMessagePath");
        return path.isEmpty() ? "/dev/termination-log" : path;
    }

    /** {@code terminationMessagePolicy}, with Kubernetes' default. */
    public String terminationMessagePolicy() {
        String policy = json.text("terminationMessagePolicy");
        return policy.isEmpty() ? "File" : policy;
    }

    /** Of an ephemeral container: {@code targetContainerName}, whose processes it sees; empty for none. */
    public String targetContainer() {
        return json.text("targetContainerName");
    }

    /** {@code image}. */
    public String image() {
        return json.text("image");
    }

    /** {@code imagePullPolicy}; without one, images without a tag other than {@code latest} are pulled always. */
    public PullPolicy pullPolicy() {
        return switch (json.text("imagePullPolicy")) {
            case "Always" -> PullPolicy.ALWAYS;
            case "Never" -> PullPolicy.NEVER;
            case "IfNotPresent" -> PullPolicy.IF_NOT_PRESENT;
            default -> isLatest() ? PullPolicy.ALWAYS : PullPolicy.IF_NOT_PRESENT;
        };
    }

    private boolean isLatest() {
        String last = image().substring(image().lastIndexOf('/') + 1);
        return !last.contains("@") && (!last.contains(":") || last.endsWith(":latest"));
    }

    /** {@code resources.requests}, which defaults to the limit. */
    public Optional<Quantity> request(String resource) {
        return quantity("requests", resource).or(() -> limit(resource));
    }

    /** {@code resources.limits}. */
    public Optional<Quantity> limit(String resource) {
        return quantity("limits", resource);
    }

    /** The names of all resources in {@code resources.limits}. */
    public Set<String> limited() {
        return json.object("resources").object("limits").fields().keySet();
    }

    /** The names of all resources that it requests or limits. */
    public Set<String> requested() {
        Set<String> names = new TreeSet<>(
                json.object("resources").object("requests").fields().keySet());
        names.addAll(limited());
        return names;
    }

    private Optional<Quantity> quantity(String kind, String resource) {
        return json.object("resources").object(kind).get(resource).flatMap(Quantity::from);
    }
}
