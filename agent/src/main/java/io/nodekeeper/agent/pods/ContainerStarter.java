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
import io.nodekeeper.agent.pods.sync.PodCommand;
import io.nodekeeper.agent.pods.sync.Reasons;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.config.ContainerConfig;
import io.nodekeeper.cri.config.SandboxConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Starts a container: its image, what its environment refers to, its files, then the runtime's calls. Each step has a deadline.
 * Confined to the loop of its ports.
 */
final class ContainerStarter {
    private static final ResourceType CONFIG_MAPS = new ResourceType("", "v1", "configmaps", "ConfigMap", true);
    private static final ResourceType SECRETS = new ResourceType("", "v1", "secrets", "Secret", true);
    private static final Path HOSTS = Path.of("/etc/hosts");

    private final PodPorts ports;
    private final PodEvents events;

    ContainerStarter(PodPorts ports) {
        this.ports = ports;
        this.events = new PodEvents(ports.events());
    }

    /** Carries {@code start} out for a pod with these addresses. Fails with a {@link CommandFailure}. */
    CompletableFuture<Void> start(Pod pod, PodCommand.StartContainer start, List<String> podIps, String resolvConf) {
        ContainerSpec container = start.container();
        NodeSettings node = ports.node().get();
        // The attempt of the sandbox plays no part in its containers' configuration.
        SandboxConfig sandbox = Sandboxes.config(pod, 0, node, resolvConf);
        return image(pod, container, sandbox)
                .thenCompose(image -> references(pod, container)
                        .thenCompose(references -> hosts(pod, podIps)
                                .thenApply(done -> Containers.config(
                                        pod,
                                        container,
                                        start.attempt(),
                                        new Containers.Inputs(
                                                node,
                                                image,
                                                references,
                                                pod.hostNetwork() ? node.addresses() : podIps,
                                                ports.files().volumes(pod),
                                                ports.files().hosts(pod.uid()))))))
                .exceptionallyCompose(error -> CompletableFuture.failedFuture(
                        Failures.cause(error) instanceof ContainerConfigException wrong
                                ? new CommandFailure(
                                        Reasons.CREATE_CONTAINER_CONFIG_ERROR, String.valueOf(wrong.getMessage()))
                                : Failures.cause(error)))
                .thenCompose(config -> create(pod, start.sandbox(), config, sandbox))
                .thenCompose(id -> run(pod, container, id));
    }

    private CompletableFuture<String> create(Pod pod, String id, ContainerConfig config, SandboxConfig sandbox) {
        return failing(
                        Reasons.CREATE_CONTAINER_ERROR,
                        ports.runtime()
                                .call(new RuntimeCall.CreateContainer(id, config, sandbox), ports.callDeadline()))
                .thenApply(container -> {
                    events.normal(pod, "Created", "Created container: " + config.name());
                    return container;
                });
    }

    private CompletableFuture<Void> run(Pod pod, ContainerSpec container, String id) {
        return failing(
                        Reasons.RUN_CONTAINER_ERROR,
                        ports.runtime().call(new RuntimeCall.StartContainer(id), ports.callDeadline()))
                .thenAccept(done -> events.normal(pod, "Started", "Started container " + container.name()));
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

    private CompletableFuture<Image> pull(Pod pod, String name, SandboxConfig sandbox) {
        events.normal(pod, "Pulling", "Pulling image \"" + name + "\"");
        long start = ports.loop().clock().nanoTime();
        return failing(
                        Reasons.ERR_IMAGE_PULL,
                        ports.runtime()
                                .call(new RuntimeCall.PullImage(name, sandbox), RuntimeCall.PullImage.LONGEST)
                                .thenCompose(this::stored))
                .thenApply(image -> {
                    Duration took = Duration.ofNanos(ports.loop().clock().nanoTime() - start);
                    events.normal(
                            pod, "Pulled", "Successfully pulled image \"" + name + "\" in " + took.toMillis() + "ms");
                    return image.orElseThrow(() -> new CommandFailure(
                            Reasons.ERR_IMAGE_PULL, "the runtime pulled image \"" + name + "\" and does not have it"));
                })
                .whenComplete((image, error) -> {
                    if (error != null) {
                        events.warning(pod, "Failed", "Failed to pull image \"" + name + "\": " + Failures.text(error));
                    }
                });
    }

    private CompletableFuture<References> references(Pod pod, ContainerSpec container) {
        Map<String, JsonObject> maps = new ConcurrentHashMap<>();
        Map<String, JsonObject> secrets = new ConcurrentHashMap<>();
        List<CompletableFuture<?>> reads = new ArrayList<>();
        read(pod, CONFIG_MAPS, References.configMapsOf(container), maps, reads);
        read(pod, SECRETS, References.secretsOf(container), secrets, reads);
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
            reads.add(ports.client().get(type, pod.namespace(), name).<Void>handle((object, error) -> {
                if (error == null) {
                    found.put(name, object);
                } else if (!Failures.isCode(error, 404)) {
                    throw new CommandFailure(
                            Reasons.CREATE_CONTAINER_CONFIG_ERROR,
                            type.qualifiedName() + " \"" + name + "\" cannot be read: " + Failures.text(error));
                }
                return null;
            }));
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
