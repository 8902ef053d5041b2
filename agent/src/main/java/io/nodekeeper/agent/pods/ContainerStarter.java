package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.kernel.KernelFile;
import io.nodekeeper.agent.pods.containers.ContainerConfigException;
import io.nodekeeper.agent.pods.containers.Containers;
import io.nodekeeper.agent.pods.containers.HostsFile;
import io.nodekeeper.agent.pods.containers.NodeSettings;
import io.nodekeeper.agent.pods.containers.References;
import io.nodekeeper.agent.pods.containers.Sandboxes;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.objects.ObjectCache;
import io.nodekeeper.agent.pods.sync.PodCommand;
import io.nodekeeper.agent.pods.sync.Reasons;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.config.ContainerConfig;
import io.nodekeeper.cri.config.SandboxConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Starts a container: its image, what its environment refers to, its files, then the runtime's calls and its hook. Each step has
 * a deadline.
 * Confined to the loop of its ports.
 */
final class ContainerStarter {
    private static final Path HOSTS = Path.of("/etc/hosts");

    private final PodPorts ports;
    private final PodEvents events;
    private final Hooks hooks;
    private final ContainerStopper stopper;

    private Optional<CompletableFuture<String>> pulling = Optional.empty();

    ContainerStarter(PodPorts ports, Hooks hooks, ContainerStopper stopper) {
        this.ports = ports;
        this.hooks = hooks;
        this.stopper = stopper;
        this.events = new PodEvents(ports.events());
    }

    /**
     * Carries {@code start} out for a pod with these addresses of its own. Fails with a {@link CommandFailure}.
     *
     * @param address at which the node reaches the pod
     */
    CompletableFuture<Void> start(
            Pod pod, PodCommand.StartContainer start, List<String> podIps, String address, String resolvConf) {
        ContainerSpec container = start.container();
        NodeSettings node = ports.node().get();
        // The attempt of the sandbox plays no part in its containers' configuration.
        SandboxConfig sandbox = Sandboxes.config(pod, 0, node, resolvConf);
        return image(pod, container, sandbox)
                .thenCompose(image -> references(pod, container)
                        .thenCompose(references -> hosts(pod, podIps)
                                .thenCompose(done -> parts(
                                        pod,
                                        container,
                                        new Containers.Inputs(
                                                node,
                                                image,
                                                references,
                                                pod.hostNetwork() ? node.addresses() : podIps,
                                                ports.files().volumes(pod),
                                                Map.of(),
                                                ports.files().hosts(pod.uid()))))
                                .thenApply(inputs -> Containers.config(pod, container, start.attempt(), inputs))))
                .exceptionallyCompose(error -> CompletableFuture.failedFuture(
                        Failures.cause(error) instanceof ContainerConfigException wrong
                                ? new CommandFailure(
                                        Reasons.CREATE_CONTAINER_CONFIG_ERROR, String.valueOf(wrong.getMessage()))
                                : Failures.cause(error)))
                .thenCompose(config -> create(pod, start.sandbox(), config, sandbox))
                .thenCompose(id -> run(pod, container, id).thenCompose(done -> hook(pod, container, id, address)));
    }

    /** Runs the hook after the start; if it fails, the container ends. */
    private CompletableFuture<Void> hook(Pod pod, ContainerSpec container, String id, String address) {
        return hooks.postStart(pod, container, id, address).thenCompose(succeeded -> {
            if (succeeded) {
                return CompletableFuture.completedFuture(null);
            }
            PodCommand.Kill kill = new PodCommand.Kill(id, container.name(), "FailedPostStartHook");
            return stopper.stop(pod, new PodCommand.KillContainers(List.of(kill), pod.grace()), address)
                    .handle((done, error) -> {
                        String more = error == null ? "" : "; it could not be ended: " + Failures.text(error);
                        throw new CommandFailure(Reasons.POST_START_HOOK_ERROR, "PostStartHook failed" + more);
                    });
        });
    }

    private CompletableFuture<String> create(Pod pod, String id, ContainerConfig config, SandboxConfig sandbox) {
        return failing(Reasons.CREATE_CONTAINER_ERROR, inTurn(new RuntimeCall.CreateContainer(id, config, sandbox)))
                .thenApply(container -> {
                    events.normal(pod, "Created", "Created container: " + config.name());
                    return container;
                });
    }

    private CompletableFuture<Void> run(Pod pod, ContainerSpec container, String id) {
        return failing(Reasons.RUN_CONTAINER_ERROR, inTurn(new RuntimeCall.StartContainer(id)))
                .thenAccept(done -> events.normal(pod, "Started", "Started container " + container.name()));
    }

    private <T> CompletableFuture<T> inTurn(RuntimeCall<T> call) {
        return ports.starts()
                .take(StartTurns.Kind.CONTAINER, () -> ports.runtime().call(call, ports.callDeadline()))
                .answer();
    }

    private CompletableFuture<Image> image(Pod pod, ContainerSpec container, SandboxConfig sandbox) {
        String name = container.image();
        if (container.pullPolicy() == ContainerSpec.PullPolicy.ALWAYS) {
            return pull(pod, name, sandbox);
        }
        return failing(Reasons.ERR_IMAGE_PULL, stored(name)).thenCompose(image -> {
            if (image.isPresent()) {
                events.normal(pod, "Pulled", "Container image \"" + name + "\" already present on machine");
                return CompletableFuture.completedFuture(image.get());
            }
            if (container.pullPolicy() == ContainerSpec.PullPolicy.NEVER) {
                String message = "Container image \"" + name + "\" is not present with pull policy of Never";
                return CompletableFuture.failedFuture(new CommandFailure(Reasons.ERR_IMAGE_NEVER_PULL, message));
            }
            return pull(pod, name, sandbox);
        });
    }

    private CompletableFuture<Optional<Image>> stored(String name) {
        return ports.runtime().call(new RuntimeCall.GetImage(name), ports.callDeadline());
    }

    /** Waits for no image any more, because the pod must end; the runtime may go on with it. */
    void abandonPull() {
        Optional<CompletableFuture<String>> call = pulling;
        pulling = Optional.empty();
        call.ifPresent(pull -> pull.completeExceptionally(
                new CommandFailure(Reasons.ERR_IMAGE_PULL, "given up, because the pod must end")));
    }

    private CompletableFuture<Image> pull(Pod pod, String name, SandboxConfig sandbox) {
        events.normal(pod, "Pulling", "Pulling image \"" + name + "\"");
        long start = ports.loop().clock().nanoTime();
        CompletableFuture<String> call =
                ports.runtime().call(new RuntimeCall.PullImage(name, sandbox), RuntimeCall.PullImage.LONGEST);
        pulling = Optional.of(call);
        return failing(Reasons.ERR_IMAGE_PULL, call.thenCompose(this::stored))
                .thenApply(image -> {
                    Duration took = Duration.ofNanos(ports.loop().clock().nanoTime() - start);
                    events.normal(
                            pod, "Pulled", "Successfully pulled image \"" + name + "\" in " + took.toMillis() + "ms");
                    return image.orElseThrow(() -> new CommandFailure(
                            Reasons.ERR_IMAGE_PULL, "the runtime pulled image \"" + name + "\" and does not have it"));
                })
                .whenComplete((image, error) -> {
                    boolean givenUp = pulling.isEmpty();
                    pulling = Optional.empty();
                    if (error != null && !givenUp) {
                        events.warning(pod, "Failed", "Failed to pull image \"" + name + "\": " + Failures.text(error));
                    }
                });
    }

    private CompletableFuture<References> references(Pod pod, ContainerSpec container) {
        Map<String, JsonObject> maps = new ConcurrentHashMap<>();
        Map<String, JsonObject> secrets = new ConcurrentHashMap<>();
        List<CompletableFuture<?>> reads = new ArrayList<>();
        read(pod, ResourceType.CONFIG_MAPS, References.configMapsOf(container), maps, reads);
        read(pod, ResourceType.SECRETS, References.secretsOf(container), secrets, reads);
        return CompletableFuture.allOf(reads.toArray(CompletableFuture[]::new))
                .thenApply(done -> new References(maps, secrets));
    }

    /** Reads objects by their names; those that do not exist are left out. */
    private void read(
            Pod pod,
            ResourceType type,
            Set<String> names,
            Map<String, JsonObject> found,
            List<CompletableFuture<?>> reads) {
        for (String name : names) {
            reads.add(ports.objects()
                    .get(type, pod.namespace(), name, ObjectCache.NEW)
                    .<Void>handle((object, error) -> {
                        if (error != null) {
                            throw new CommandFailure(
                                    Reasons.CREATE_CONTAINER_CONFIG_ERROR,
                                    type.qualifiedName() + " \"" + name + "\" cannot be read: " + Failures.text(error));
                        }
                        object.ifPresent(value -> found.put(name, value));
                        return null;
                    }));
        }
    }

    /** The inputs with the parts of volumes that the container mounts. */
    private CompletableFuture<Containers.Inputs> parts(Pod pod, ContainerSpec container, Containers.Inputs inputs) {
        List<Containers.SubPath> parts = Containers.subPaths(pod, container, inputs);
        if (parts.isEmpty()) {
            return CompletableFuture.completedFuture(inputs);
        }
        CompletableFuture<Map<Integer, Path>> mounted =
                ports.onVolumes(pod, "parts of volumes of " + pod.fullName(), () -> {
                    Map<Integer, Path> paths = new HashMap<>();
                    for (Containers.SubPath part : parts) {
                        paths.put(part.mount(), mount(pod, container, part));
                    }
                    return paths;
                });
        return failing(Reasons.CREATE_CONTAINER_CONFIG_ERROR, mounted).thenApply(inputs::with);
    }

    private Path mount(Pod pod, ContainerSpec container, Containers.SubPath part) throws IOException {
        try {
            return ports.files().subPath(pod, part.volume(), container.name(), part.mount(), part.inside());
        } catch (IOException e) {
            throw new IOException(
                    "failed to prepare subPath for volumeMount \"" + part.volume() + "\" of container \""
                            + container.name() + "\": " + e.getMessage(),
                    e);
        }
    }

    private CompletableFuture<Void> hosts(Pod pod, List<String> podIps) {
        CompletableFuture<String> written = ports.onDisk("etc-hosts of " + pod.fullName(), () -> {
            String text = pod.hostNetwork() ? HostsFile.ofHost(pod, KernelFile.text(HOSTS)) : HostsFile.of(pod, podIps);
            ports.files().writeHosts(pod.uid(), text);
            return text;
        });
        return failing(Reasons.CREATE_CONTAINER_CONFIG_ERROR, written).thenAccept(done -> {});
    }

    /** The same future; its error becomes a {@link CommandFailure} of {@code reason}. */
    static <T> CompletableFuture<T> failing(String reason, CompletableFuture<T> future) {
        return future.exceptionallyCompose(error -> {
            Throwable cause = Failures.cause(error);
            return CompletableFuture.failedFuture(
                    cause instanceof CommandFailure ? cause : new CommandFailure(reason, Failures.text(cause)));
        });
    }
}
