package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.agent.pleg.PodStatus;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.PodSandboxStatus;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the runtime shows of a pod, newest first. Immutable. */
public final class Observed {
    private static final Comparator<ContainerStatus> NEWEST_FIRST = Comparator.<ContainerStatus>comparingInt(
                    status -> status.origin().attempt())
            .thenComparingLong(status -> status.origin().createdAtNanos())
            .reversed();

    private final List<PodSandboxStatus> sandboxes;
    private final List<ContainerStatus> containers;
    private final Map<String, String> homes;
    /** The containers of each name, newest first. */
    private final Map<String, List<ContainerStatus>> byName;

    /** A view of {@code status}. */
    public Observed(PodStatus status) {
        sandboxes = status.sandboxes();
        containers = status.containers().stream().sorted(NEWEST_FIRST).toList();
        homes = status.homes();
        byName = containers.stream().collect(Collectors.groupingBy(ContainerStatus::name));
    }

    /** The sandboxes, newest first. */
    List<PodSandboxStatus> sandboxes() {
        return sandboxes;
    }

    /** The containers, newest first. */
    public List<ContainerStatus> containers() {
        return containers;
    }

    /** The newest sandbox. */
    public Optional<PodSandbox> sandbox() {
        return sandboxes.stream().findFirst().map(PodSandboxStatus::sandbox);
    }

    /**
     * Whether the newest sandbox is ready, and no other: with two, such as after a creation whose answer was lost, containers
     * would be spread over both.
     */
    boolean hasOneReadySandbox() {
        List<PodSandboxStatus> ready =
                sandboxes.stream().filter(status -> status.sandbox().ready()).toList();
        return ready.size() == 1 && ready.getFirst() == sandboxes.getFirst();
    }

    /** The id of the sandbox that {@code container} is in; empty if it is not known. */
    Optional<String> home(ContainerStatus container) {
        return Optional.ofNullable(homes.get(container.id())).filter(id -> !id.isEmpty());
    }

    /** The highest attempt of a sandbox; -1 if there is none. */
    int highestAttempt() {
        return sandboxes.stream()
                .mapToInt(status -> status.sandbox().attempt())
                .max()
                .orElse(-1);
    }

    /** The newest container of that name. */
    public Optional<ContainerStatus> newest(String name) {
        return named(name).findFirst();
    }

    /** The newest container of that name that has ended, other than {@code except}. */
    public Optional<ContainerStatus> ended(String name, String except) {
        return named(name)
                .filter(container -> !container.id().equals(except) && container.state() == ContainerState.EXITED)
                .findFirst();
    }

    private Stream<ContainerStatus> named(String name) {
        return byName.getOrDefault(name, List.of()).stream();
    }

    /** Whether processes of the container may exist. */
    public static boolean mayRun(ContainerStatus container) {
        return container.state() == ContainerState.RUNNING || container.state() == ContainerState.UNKNOWN;
    }

    /** A time of the runtime, ns since 1970. */
    public static Instant time(long nanos) {
        return Instant.EPOCH.plusNanos(nanos);
    }
}
