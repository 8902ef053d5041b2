package io.nodekeeper.cri.devices;

import com.google.protobuf.InvalidProtocolBufferException;
import io.nodekeeper.cri.config.ContainerConfig;
import io.nodekeeper.cri.devices.v1beta1.CDIDevice;
import io.nodekeeper.cri.devices.v1beta1.ContainerAllocateResponse;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a container gets together with devices: a plugin's answer to Allocate for one container. Immutable. */
public final class DeviceGrant {
    private final ContainerAllocateResponse answer;

    DeviceGrant(ContainerAllocateResponse answer) {
        this.answer = answer;
    }

    /**
     * Reads what {@link #bytes} wrote, or another node agent.
     *
     * @throws IllegalArgumentException if it is not such an answer
     */
    public static DeviceGrant parse(byte[] bytes) {
        try {
            return new DeviceGrant(ContainerAllocateResponse.parseFrom(bytes));
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalArgumentException(
                    "expected the answer of a device plugin in " + bytes.length + " bytes of protobuf: "
                            + e.getMessage(),
                    e);
        }
    }

    /** The answer in protobuf, with the fields that this agent does not know. */
    public byte[] bytes() {
        return answer.toByteArray();
    }

    /** Variables of the environment, by name, sorted. */
    public Map<String, String> environment() {
        return new TreeMap<>(answer.getEnvsMap());
    }

    /** Files of the host that the container sees. */
    public List<ContainerConfig.Mount> mounts() {
        return answer.getMountsList().stream()
                .map(mount -> new ContainerConfig.Mount(
                        mount.getContainerPath(),
                        mount.getHostPath(),
                        mount.getReadOnly(),
                        ContainerConfig.Propagation.PRIVATE))
                .toList();
    }

    /** Devices of the host that the container may use. */
    public List<ContainerConfig.Device> devices() {
        return answer.getDevicesList().stream()
                .map(device -> new ContainerConfig.Device(
                        device.getContainerPath(), device.getHostPath(), device.getPermissions()))
                .toList();
    }

    /** Annotations of the container, for the runtime; sorted by key. */
    public Map<String, String> annotations() {
        return new TreeMap<>(answer.getAnnotationsMap());
    }

    /** Full names of CDI devices, such as {@code vendor.com/class=name}. */
    public List<String> cdiDevices() {
        return answer.getCdiDevicesList().stream().map(CDIDevice::getName).toList();
    }
}
