package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.kernel.KernelFile;
import io.nodekeeper.agent.pods.containers.ContainerConfigException;
import io.nodekeeper.agent.pods.containers.Containers;
import io.nodekeeper.agent.pods.containers.HostsFile;
import io.nodekeeper.agent.pods.containers.NodeSettings;
import io.nodekeeper.agent.pods.containers.OwnResources;
import io.nodekeeper.agent.pods.containers.References;
import io.nodekeeper.agent.pods.containers.Sandboxes;
import io.nodekeeper.agent.pods.containers.ServiceEnvironment;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.objects.ObjectCache;
import io.nodekeeper.agent.pods.objects.ServiceLists;
import io.nodekeeper.agent.pods.sync.PodCommand;
import io.nodekeeper.agent.pods.sync.Reasons;
import io.nodekeeper.agent.pods.turns.StartTurns;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.config.ContainerConfig;
import io.nodekeeper.cri.config.SandboxConfig;
import io.nodekeeper.time.Deadlines;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts a container: its image, what its environment refers to, its files, then the runtime's calls and its hook. Each step has
 * a deadline.
 * Confined to the loop of its ports.
 */
final class ContainerStarter {
    private static final Logger log = LoggerFactory.getLogger(ContainerStarter.class);
    /** How long a static pod waits for the API to tell the services. */
    private static final Duration STATIC_WAITS = Duration.ofSeconds(1);

    private static final Path HOSTS = Path.of("/etc/hosts");

    private final PodPorts ports;
    private final PodVolumes volumes;
    private final PodEvents events;
    private final Hooks hooks;
    private final ContainerStopper stopper;
    private final ImagePuller images;
    private final PodStarts starts;

    ContainerStarter(PodPorts ports, PodVolumes volumes, Hooks hooks, ContainerStopper stopper, PodStarts starts) {
        this.ports = ports;
        this.volumes = volumes;
        this.hooks = hooks;
        this.stopper = stopper;
        this.events = new PodEvents(ports.events());
        this.images = new ImagePuller(ports, starts);
        this.starts = starts;
    }

    /** Gives up the image that is being pulled, because the pod must end. */
    void abandonPull() {
        images.abandon();
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
        return images.get(pod, container, sandbox)
                .thenCompose(image -> references(pod, container)
                        .thenCompose(references -> files(pod, container, start.attempt(), podIps)
                                .thenCompose(done -> parts(
                                        pod,
                                        container,
                                        new Containers.Inputs(
                                                node,
                                                image,
                                                references,
                                                pod.hostNetwork() ? node.addresses() : podIps,
                                                volumes.paths(pod),
                                                Map.of(),
                                                ports.files().hosts(pod.uid()),
                                                OwnResources.NONE,
                                                ports.files()
                                                        .terminationLog(pod.uid(), container.name(), start.attempt()),
                                                start.target())))
                                .thenCompose(inputs -> own(pod, container).thenApply(inputs::with))
                                .thenApply(inputs -> Containers.config(pod, container, start.attempt(), inputs))))
                .exceptionallyCompose(error -> CompletableFuture.failedFuture(
                        Failures.cause(error) instanceof ContainerConfigException wrong
                                ? new CommandFailure(
                                        Reasons.CREATE_CONTAINER_CONFIG_ERROR, String.valueOf(wrong.getMessage()))
                                : Failures.cause(error)))
                .thenCompose(config -> create(pod, start.sandbox(), config, sandbox))
                .thenCompose(id -> run(pod, container, id)
                        .thenCompose(done -> link(pod, container, start.attempt(), id))
                        .thenCompose(done -> hook(pod, container, id, address)));
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
        return CommandFailure.failing(
                        Reasons.CREATE_CONTAINER_ERROR,
                        starts.call(StartTurns.Kind.CONTAINER, new RuntimeCall.CreateContainer(id, config, sandbox)))
                .thenApply(container -> {
                    events.normal(pod, "Created", "Created container: " + config.name());
                    return container;
                });
    }

    private CompletableFuture<Void> run(Pod pod, ContainerSpec container, String id) {
        return CommandFailure.failing(
                        Reasons.RUN_CONTAINER_ERROR,
                        starts.call(StartTurns.Kind.CONTAINER, new RuntimeCall.StartContainer(id)))
                .thenAccept(done -> events.normal(pod, "Started", "Started container " + container.name()));
    }

    /** Links the log. Without the link the container runs, too. */
    private CompletableFuture<?> link(Pod pod, ContainerSpec container, int attempt, String id) {
        return ports.onDisk("link to a log of " + pod.fullName(), () -> {
                    ports.files().linkLog(pod, container.name(), attempt, id);
                    return "";
                })
                .exceptionally(error -> {
                    log.warn(
                            "The log of container {} of pod {} has no link: {}",
                            container.name(),
                            pod.fullName(),
                            Failures.text(error));
                    return "";
                });
    }

    private CompletableFuture<References> references(Pod pod, ContainerSpec container) {
        Map<String, JsonObject> maps = new ConcurrentHashMap<>();
        Map<String, JsonObject> secrets = new ConcurrentHashMap<>();
        List<CompletableFuture<?>> reads = new ArrayList<>();
        read(pod, ResourceType.CONFIG_MAPS, References.configMapsOf(container), maps, reads);
        read(pod, ResourceType.SECRETS, References.secretsOf(container), secrets, reads);
        CompletableFuture<Map<String, String>> services =
                CommandFailure.failing(Reasons.CREATE_CONTAINER_CONFIG_ERROR, services(pod));
        reads.add(services);
        return CompletableFuture.allOf(reads.toArray(CompletableFuture[]::new))
                .thenApply(done -> new References(maps, secrets, services.join()));
    }

    /** The variables of the pod's Services. The one of the API itself counts less than one of the pod's namespace. */
    private CompletableFuture<Map<String, String>> services(Pod pod) {
        CompletableFuture<Map<String, String>> own = pod.serviceLinks()
                ? ports.objects().services().in(pod.namespace())
                : CompletableFuture.completedFuture(Map.of());
        CompletableFuture<Optional<JsonObject>> master = ports.objects()
                .get(
                        ServiceLists.SERVICES,
                        ServiceEnvironment.MASTER_NAMESPACE,
                        ServiceEnvironment.MASTER,
                        ObjectCache.RECENT);
        CompletableFuture<Map<String, String>> variables = own.thenCombine(
                master,
                (all, api) -> api.map(service -> ServiceEnvironment.withMaster(all, service))
                        .orElse(all));
        if (pod.isStatic()) {
            // It starts without an API, too.
            return Deadlines.within(ports.loop(), STATIC_WAITS, "services", variables)
                    .exceptionally(error -> Map.of());
        }
        return variables.exceptionallyCompose(error -> CompletableFuture.failedFuture(new CommandFailure(
                Reasons.CREATE_CONTAINER_CONFIG_ERROR,
                "services of namespace \"" + pod.namespace() + "\" cannot be read: "
                        + Failures.text(Failures.cause(error)))));
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

    private CompletableFuture<OwnResources> own(Pod pod, ContainerSpec container) {
        return CommandFailure.failing(
                Reasons.CREATE_CONTAINER_CONFIG_ERROR, ports.resources().prepare(pod, container));
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
                        Path volume = inputs.volumes().get(part.volume());
                        if (volume == null) {
                            throw new IOException("the pod has no volume \"" + part.volume() + "\"");
                        }
                        paths.put(part.mount(), mount(pod, container, part, volume));
                    }
                    return paths;
                });
        return CommandFailure.failing(Reasons.CREATE_CONTAINER_CONFIG_ERROR, mounted)
                .thenApply(inputs::with);
    }

    private Path mount(Pod pod, ContainerSpec container, Containers.SubPath part, Path volume) throws IOException {
        try {
            return ports.files().subPath(pod, part.volume(), volume, container.name(), part.mount(), part.inside());
        } catch (IOException e) {
            throw new IOException(
                    "failed to prepare subPath for volumeMount \"" + part.volume() + "\" of container \""
                            + container.name() + "\": " + e.getMessage(),
                    e);
        }
    }

    /** Writes the files of the node's own that the container sees. */
    private CompletableFuture<Void> files(Pod pod, ContainerSpec container, int attempt, List<String> podIps) {
        String domain = ports.node().get().clusterDomain();
        CompletableFuture<String> written = ports.onDisk("files of " + pod.fullName(), () -> {
            String text = pod.hostNetwork()
                    ? HostsFile.ofHost(pod, KernelFile.text(HOSTS))
                    : HostsFile.of(pod, podIps, domain);
            ports.files().writeHosts(pod.uid(), text);
            ports.files().makeTerminationLog(pod.uid(), container.name(), attempt);
            return text;
        });
        return CommandFailure.failing(Reasons.CREATE_CONTAINER_CONFIG_ERROR, written)
                .thenAccept(done -> {});
    }
}
