package io.nodekeeper.agent.devices;

import io.nodekeeper.agent.checkpoint.CheckpointFile;
import io.nodekeeper.agent.facts.DeviceCapacity;
import io.nodekeeper.agent.facts.NodeDevices;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.status.ResourceList;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.devices.DevicePlugin;
import io.nodekeeper.cri.devices.PluginDevice;
import io.nodekeeper.cri.devices.PluginOptions;
import io.nodekeeper.cri.devices.PluginRegistration;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.Loop;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The node's devices, as a kubelet manages them: plugins register resources and list devices; containers get devices when their
 * pod is admitted and keep them until it has ended. A plugin that hangs delays only pods that need its devices. What containers
 * have is on disk before they start. Confined to its loop.
 */
public final class DeviceManager implements NodeDevices {
    /** The most resources; each needs a connection and up to three threads while its plugin is asked. */
    static final int MOST_RESOURCES = 256;
    /** The most registrations at the same time; each may wait 10 s for its plugin. */
    static final int MOST_CONNECTING = 32;

    private static final Logger log = LoggerFactory.getLogger(DeviceManager.class);

    private final Path directory;
    private final Function<Path, DevicePlugin> plugins;
    private final Consumer<String> registered;
    private final Loop loop;
    private final CheckpointFile file;
    /** At most {@link #MOST_RESOURCES}. */
    private final Map<String, DeviceResource> resources = new TreeMap<>();
    /** Resources whose plugin is gone for long. Those that come back leave it, so it is as small as {@link #resources}. */
    private final Set<String> removed = new TreeSet<>();

    private final PodDevices devices = new PodDevices();
    private final DeviceAllocator allocator = new DeviceAllocator(resources, devices);
    private boolean hasCheckpoint;
    private int connecting;
    private boolean stopped;

    /**
     * A manager without plugins.
     *
     * @param directory in which plugins have their sockets and the agent its checkpoint
     * @param earlier what an earlier agent left; empty if there is no checkpoint
     * @param plugins connects to the plugin at a socket; its results complete on {@code loop}
     * @param registered receives the resource of each registration
     */
    DeviceManager(
            Path directory,
            Optional<DeviceCheckpoint> earlier,
            Function<Path, DevicePlugin> plugins,
            Consumer<String> registered,
            BlockingCalls disk,
            Loop loop) {
        this.directory = directory;
        this.plugins = plugins;
        this.registered = registered;
        this.loop = loop;
        file = new CheckpointFile(directory.resolve(DeviceDirectory.CHECKPOINT), this::checkpoint, disk, loop);
        hasCheckpoint = earlier.isPresent();
        DeviceCheckpoint content = earlier.orElse(DeviceCheckpoint.EMPTY);
        content.allocations().forEach(devices::add);
        long now = loop.clock().nanoTime();
        content.registered().keySet().stream()
                .limit(MOST_RESOURCES)
                .forEach(resource -> resources.put(resource, new DeviceResource(now)));
    }

    @Override
    public boolean hasCheckpoint() {
        return hasCheckpoint;
    }

    @Override
    public DeviceCapacity capacity() {
        long now = loop.clock().nanoTime();
        List<String> expired = resources.entrySet().stream()
                .filter(entry -> entry.getValue().isExpired(now))
                .map(Map.Entry::getKey)
                .toList();
        for (String resource : expired) {
            log.info("The plugin of {} is gone for more than {}", resource, DeviceResource.GRACE);
            resources.remove(resource);
            if (removed.size() < MOST_RESOURCES) {
                removed.add(resource);
            }
        }
        if (!expired.isEmpty()) {
            save();
        }
        Map<String, DeviceCapacity.Amount> amounts = new TreeMap<>();
        removed.forEach(resource -> amounts.put(resource, DeviceCapacity.Amount.ZERO));
        resources.forEach((resource, state) -> amounts.put(resource, state.amount()));
        return new DeviceCapacity(amounts);
    }

    /** Registers a plugin. Fails with a {@link DeviceException} or the error of the plugin. */
    CompletableFuture<Void> register(PluginRegistration request) {
        Optional<String> fault = fault(request);
        if (fault.isPresent()) {
            log.warn("A device plugin was refused: {}", fault.get());
            return CompletableFuture.failedFuture(new DeviceException(fault.get()));
        }
        log.info("Device plugin {} registers {}", request.endpoint(), request.resource());
        connecting++;
        DevicePlugin plugin = plugins.apply(directory.resolve(request.endpoint()));
        return plugin.options().handle((options, error) -> {
            connecting--;
            if (error != null || stopped) {
                plugin.close();
                throw new DeviceException("failed to get device plugin options: "
                        + (error == null ? "the agent ends" : Failures.text(error)));
            }
            connected(request.resource(), plugin, options);
            return null;
        });
    }

    private Optional<String> fault(PluginRegistration request) {
        if (!request.version().equals(PluginRegistration.VERSION)) {
            return Optional.of("requested API version \"" + request.version()
                    + "\" is not supported by kubelet. Supported version is [\"" + PluginRegistration.VERSION + "\"]");
        }
        if (!ResourceList.extended(request.resource())) {
            return Optional.of("the ResourceName \"" + request.resource() + "\" is invalid");
        }
        String endpoint = request.endpoint();
        if (endpoint.isEmpty() || endpoint.contains("/") || endpoint.startsWith(".") || endpoint.indexOf('\0') >= 0) {
            return Optional.of(
                    "the Endpoint \"" + endpoint + "\" is invalid; expected the name of a socket in " + directory);
        }
        if (connecting >= MOST_CONNECTING) {
            return Optional.of(MOST_CONNECTING + " device plugins are being registered already");
        }
        boolean known = resources.containsKey(request.resource());
        return known || resources.size() < MOST_RESOURCES
                ? Optional.empty()
                : Optional.of(MOST_RESOURCES + " resources of device plugins are registered already");
    }

    private void connected(String resource, DevicePlugin plugin, PluginOptions options) {
        long now = loop.clock().nanoTime();
        removed.remove(resource);
        DeviceResource state = resources.computeIfAbsent(resource, name -> new DeviceResource(now));
        state.connect(plugin, options);
        registered.accept(resource);
        plugin.watch(list -> listed(resource, plugin, list))
                .whenComplete((done, error) -> ended(resource, plugin, error));
    }

    /** The state of {@code resource}, if {@code plugin} still answers for it. */
    private Optional<DeviceResource> current(String resource, DevicePlugin plugin) {
        return Optional.ofNullable(resources.get(resource))
                .filter(state -> state.plugin().filter(plugin::equals).isPresent());
    }

    private void listed(String resource, DevicePlugin plugin, List<PluginDevice> list) {
        current(resource, plugin).ifPresent(state -> {
            state.list(list);
            log.info(
                    "{} has {} devices, {} of them healthy",
                    resource,
                    list.size(),
                    state.healthy().size());
            save();
        });
    }

    private void ended(String resource, DevicePlugin plugin, @Nullable Throwable error) {
        if (stopped) {
            return;
        }
        current(resource, plugin).ifPresent(state -> {
            log.warn(
                    "The plugin of {} has ended, so its devices are unhealthy: {}",
                    resource,
                    error == null ? "it closed its list of devices" : Failures.text(error));
            state.disconnect(loop.clock().nanoTime());
            save();
        });
    }

    /** Whether devices of that resource come from a plugin. */
    public boolean isDevice(String resource) {
        return allocator.isDevice(resource);
    }

    /**
     * Gives {@code pod} the devices that its containers limit; it keeps those that it has. Fails with the kubelet's message, and
     * then the pod has none.
     */
    public CompletableFuture<Void> allocate(Pod pod) {
        if (pod.allContainers().stream().noneMatch(allocator::needsDevices)) {
            return CompletableFuture.completedFuture(null);
        }
        return allocator.allocate(pod).thenCompose(done -> saved()).whenComplete((done, error) -> {
            if (error != null) {
                release(pod.uid());
            }
        });
    }

    /** Prepares a start of a container, and gives it devices if the agent has forgotten about them. */
    public CompletableFuture<ContainerDevices> prepare(Pod pod, ContainerSpec container) {
        if (!allocator.needsDevices(container)) {
            return CompletableFuture.completedFuture(ContainerDevices.NONE);
        }
        boolean complete = allocator.isComplete(pod, container);
        return (complete
                        ? CompletableFuture.<Void>completedFuture(null)
                        : allocator.allocate(pod, container).thenCompose(done -> saved()))
                .thenCompose(done -> allocator.preStart(pod, container))
                .thenApply(done -> ContainerDevices.of(devices.of(pod.uid(), container.name()).stream()
                        .map(Allocation::grant)
                        .toList()));
    }

    /** Frees the devices of all pods but {@code uids}. */
    public void retain(Set<String> uids) {
        if (!devices.isEmpty() && devices.retain(uids)) {
            save();
        }
    }

    /** Frees the devices of a pod that has not started. */
    public void release(String uid) {
        if (devices.release(uid)) {
            save();
        }
    }

    /**
     * Writes the checkpoint of a new machine, so that the next agent knows that devices were kept here: without that it would reset
     * the extended resources that administrators set.
     */
    void begin() {
        if (!hasCheckpoint) {
            write();
        }
    }

    /** Closes all connections. */
    void stop() {
        stopped = true;
        resources.values().forEach(resource -> resource.plugin().ifPresent(DevicePlugin::close));
    }

    private DeviceCheckpoint content() {
        Map<String, List<String>> healthy = new TreeMap<>();
        resources.forEach((resource, state) -> healthy.put(resource, new ArrayList<>(state.healthy())));
        return new DeviceCheckpoint(devices.all(), healthy);
    }

    private JsonObject checkpoint() {
        return content().json();
    }

    private CompletableFuture<Void> saved() {
        hasCheckpoint = true;
        return file.save();
    }

    private void save() {
        hasCheckpoint = true;
        write();
    }

    private void write() {
        file.save().exceptionally(error -> {
            log.warn("{} cannot be written: {}", directory.resolve(DeviceDirectory.CHECKPOINT), Failures.text(error));
            return null;
        });
    }
}
