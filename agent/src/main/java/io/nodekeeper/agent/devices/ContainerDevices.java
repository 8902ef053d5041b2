package io.nodekeeper.agent.devices;

import io.nodekeeper.cri.config.ContainerConfig;
import io.nodekeeper.cri.devices.DeviceGrant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a container gets with its devices. Immutable.
 *
 * @param environment variables, which those of the pod override
 * @param mounts files of the host
 * @param devices devices of the host
 * @param annotations for the runtime, which Kubernetes' own override
 * @param cdiDevices full names of CDI devices
 */
public record ContainerDevices(
        Map<String, String> environment,
        List<ContainerConfig.Mount> mounts,
        List<ContainerConfig.Device> devices,
        Map<String, String> annotations,
        List<String> cdiDevices) {
    /** Of a container without devices. */
    public static final ContainerDevices NONE =
            new ContainerDevices(Map.of(), List.of(), List.of(), Map.of(), List.of());

    /** Keeps copies. */
    public ContainerDevices {
        environment = Map.copyOf(environment);
        mounts = List.copyOf(mounts);
        devices = List.copyOf(devices);
        annotations = Map.copyOf(annotations);
        cdiDevices = List.copyOf(cdiDevices);
    }

    /** All of {@code grants} together. If two of them set the same thing, the first one counts, as in a kubelet. */
    static ContainerDevices of(List<DeviceGrant> grants) {
        Map<String, String> environment = new LinkedHashMap<>();
        Map<String, ContainerConfig.Mount> mounts = new LinkedHashMap<>();
        Map<String, ContainerConfig.Device> devices = new LinkedHashMap<>();
        Map<String, String> annotations = new LinkedHashMap<>();
        Set<String> cdi = new LinkedHashSet<>();
        for (DeviceGrant grant : grants) {
            grant.environment().forEach(environment::putIfAbsent);
            grant.mounts().forEach(mount -> mounts.putIfAbsent(mount.containerPath(), mount));
            grant.devices().forEach(device -> devices.putIfAbsent(device.containerPath(), device));
            grant.annotations().forEach(annotations::putIfAbsent);
            cdi.addAll(grant.cdiDevices());
        }
        return new ContainerDevices(
                environment,
                new ArrayList<>(mounts.values()),
                new ArrayList<>(devices.values()),
                annotations,
                new ArrayList<>(cdi));
    }
}
