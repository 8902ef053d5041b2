package io.nodekeeper.agent.devices;

import io.nodekeeper.agent.facts.DeviceCapacity;
import io.nodekeeper.cri.devices.DevicePlugin;
import io.nodekeeper.cri.devices.PluginDevice;
import io.nodekeeper.cri.devices.PluginOptions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The devices of one resource, and the plugin that answers for them. Confined to the loop of its manager. */
final class DeviceResource {
    /** How long a resource stays without its plugin: Kubernetes' constant. */
    static final Duration GRACE = Duration.ofMinutes(5);

    private Map<String, PluginDevice> devices = Map.of();
    private Optional<DevicePlugin> plugin = Optional.empty();
    private PluginOptions options = PluginOptions.NONE;
    /** Monotonic ns; counts while there is no plugin. */
    private long stoppedAt;

    /** A resource whose plugin has not come yet. */
    DeviceResource(long now) {
        stoppedAt = now;
    }

    /** Another plugin answers from now on; what is known about devices stays until it lists them. */
    void connect(DevicePlugin next, PluginOptions wanted) {
        plugin.ifPresent(DevicePlugin::close);
        plugin = Optional.of(next);
        options = wanted;
    }

    /** The plugin has ended; all devices are unhealthy. */
    void disconnect(long now) {
        plugin.ifPresent(DevicePlugin::close);
        plugin = Optional.empty();
        stoppedAt = now;
        list(devices.values().stream()
                .map(device -> new PluginDevice(device.id(), false, device.numaNodes()))
                .toList());
    }

    /** These are the devices now. */
    void list(List<PluginDevice> all) {
        devices = all.stream()
                .collect(Collectors.toMap(PluginDevice::id, device -> device, (a, b) -> b, LinkedHashMap::new));
    }

    /** Whether the plugin is gone for too long. */
    boolean isExpired(long now) {
        return plugin.isEmpty() && now - stoppedAt > GRACE.toNanos();
    }

    Optional<DevicePlugin> plugin() {
        return plugin;
    }

    PluginOptions options() {
        return options;
    }

    Map<String, PluginDevice> devices() {
        return devices;
    }

    SortedSet<String> healthy() {
        return devices.values().stream()
                .filter(PluginDevice::healthy)
                .map(PluginDevice::id)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    DeviceCapacity.Amount amount() {
        return new DeviceCapacity.Amount(devices.size(), healthy().size());
    }
}
