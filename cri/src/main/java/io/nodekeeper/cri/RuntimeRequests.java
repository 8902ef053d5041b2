package io.nodekeeper.cri;

import io.nodekeeper.cri.config.ContainerConfig;
import io.nodekeeper.cri.config.SandboxConfig;
import io.nodekeeper.cri.config.SandboxOptions;
import io.nodekeeper.cri.config.SecurityProfile;
import io.nodekeeper.cri.config.SelinuxLabel;
import io.nodekeeper.cri.v1.AuthConfig;
import io.nodekeeper.cri.v1.CDIDevice;
import io.nodekeeper.cri.v1.Capability;
import io.nodekeeper.cri.v1.ContainerMetadata;
import io.nodekeeper.cri.v1.DNSConfig;
import io.nodekeeper.cri.v1.Device;
import io.nodekeeper.cri.v1.HugepageLimit;
import io.nodekeeper.cri.v1.ImageSpec;
import io.nodekeeper.cri.v1.Int64Value;
import io.nodekeeper.cri.v1.KeyValue;
import io.nodekeeper.cri.v1.LinuxContainerConfig;
import io.nodekeeper.cri.v1.LinuxContainerResources;
import io.nodekeeper.cri.v1.LinuxContainerSecurityContext;
import io.nodekeeper.cri.v1.LinuxPodSandboxConfig;
import io.nodekeeper.cri.v1.LinuxSandboxSecurityContext;
import io.nodekeeper.cri.v1.Mount;
import io.nodekeeper.cri.v1.MountPropagation;
import io.nodekeeper.cri.v1.NamespaceMode;
import io.nodekeeper.cri.v1.NamespaceOption;
import io.nodekeeper.cri.v1.PodSandboxConfig;
import io.nodekeeper.cri.v1.PodSandboxMetadata;
import io.nodekeeper.cri.v1.PortMapping;
import io.nodekeeper.cri.v1.Protocol;
import io.nodekeeper.cri.v1.PullImageRequest;
import io.nodekeeper.cri.v1.SELinuxOption;
import io.nodekeeper.cri.v1.SupplementalGroupsPolicy;
import java.util.List;
import java.util.TreeMap;

/** Converts configurations of sandboxes and containers to the runtime's protobuf. */
final class RuntimeRequests {
    private static final String POD_NAME = "io.kubernetes.pod.name";
    private static final String POD_NAMESPACE = "io.kubernetes.pod.namespace";

    /** Kubernetes' default: what a container does not see in {@code /proc} and {@code /sys}. */
    private static final List<String> MASKED = List.of(
            "/proc/asound",
            "/proc/acpi",
            "/proc/kcore",
            "/proc/keys",
            "/proc/latency_stats",
            "/proc/timer_list",
            "/proc/timer_stats",
            "/proc/sched_debug",
            "/proc/scsi",
            "/sys/firmware",
            "/sys/devices/virtual/powercap");
    /** Kubernetes' default: what a container cannot write. */
    private static final List<String> READONLY =
            List.of("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger");

    private RuntimeRequests() {}

    static PodSandboxConfig sandbox(SandboxConfig config) {
        SandboxOptions options = config.options();
        // Lists find the sandbox by its labels.
        PodSandboxConfig.Builder sandbox = PodSandboxConfig.newBuilder()
                .setMetadata(PodSandboxMetadata.newBuilder()
                        .setName(config.podName())
                        .setUid(config.podUid())
                        .setNamespace(config.podNamespace())
                        .setAttempt(config.attempt()))
                .setHostname(options.hostname())
                .setLogDirectory(config.logDirectory())
                .putAllLabels(options.labels())
                .putLabels(GrpcCall.POD_UID, config.podUid())
                .putLabels(POD_NAME, config.podName())
                .putLabels(POD_NAMESPACE, config.podNamespace())
                .putAllAnnotations(options.annotations())
                .setLinux(linux(options));
        options.dns()
                .ifPresent(dns -> sandbox.setDnsConfig(DNSConfig.newBuilder()
                        .addAllServers(dns.servers())
                        .addAllSearches(dns.searches())
                        .addAllOptions(dns.options())));
        for (SandboxOptions.Port port : options.ports()) {
            sandbox.addPortMappings(PortMapping.newBuilder()
                    .setProtocol(Protocol.valueOf(port.protocol()))
                    .setContainerPort(port.containerPort())
                    .setHostPort(port.hostPort())
                    .setHostIp(port.hostIp()));
        }
        return sandbox.build();
    }

    private static LinuxPodSandboxConfig linux(SandboxOptions options) {
        SandboxOptions.Security security = options.security();
        var context = LinuxSandboxSecurityContext.newBuilder()
                .setPrivileged(security.privileged())
                // As a kubelet's: nothing of a pod runs in it, and a profile of the node may be too narrow.
                .setSeccomp(profile(SecurityProfile.RUNTIME_DEFAULT))
                .setNamespaceOptions(namespaces(options.namespaces()));
        security.selinux().ifPresent(label -> context.setSelinuxOptions(selinux(label)));
        LinuxPodSandboxConfig.Builder linux = LinuxPodSandboxConfig.newBuilder()
                .setCgroupParent(options.cgroupParent())
                .putAllSysctls(security.sysctls())
                .setSecurityContext(context);
        options.size().containers().ifPresent(amounts -> linux.setResources(resources(amounts)));
        options.size().overhead().ifPresent(amounts -> linux.setOverhead(resources(amounts)));
        return linux.build();
    }

    static PullImageRequest pull(RuntimeCall.PullImage pull) {
        PullImageRequest.Builder request = PullImageRequest.newBuilder()
                .setImage(ImageSpec.newBuilder().setImage(pull.image()))
                .setSandboxConfig(sandbox(pull.sandbox()));
        pull.credentials()
                .ifPresent(credentials -> request.setAuth(AuthConfig.newBuilder()
                        .setUsername(credentials.username())
                        .setPassword(credentials.password())
                        .setIdentityToken(credentials.identityToken())
                        .setRegistryToken(credentials.registryToken())
                        .setServerAddress(credentials.serverAddress())));
        return request.build();
    }

    static io.nodekeeper.cri.v1.ContainerConfig container(ContainerConfig config) {
        var container = io.nodekeeper.cri.v1.ContainerConfig.newBuilder()
                .setMetadata(
                        ContainerMetadata.newBuilder().setName(config.name()).setAttempt(config.attempt()))
                .setImage(ImageSpec.newBuilder().setImage(config.image()))
                .addAllCommand(config.command())
                .addAllArgs(config.args())
                .setWorkingDir(config.workingDir())
                .putAllLabels(config.labels())
                .putAllAnnotations(config.annotations())
                .setLogPath(config.logPath())
                .setStdin(config.terminal().stdin())
                .setStdinOnce(config.terminal().stdinOnce())
                .setTty(config.terminal().tty())
                .setLinux(LinuxContainerConfig.newBuilder()
                        .setResources(resources(config.resources()))
                        .setSecurityContext(security(config.security())));
        config.environment()
                .forEach((name, value) ->
                        container.addEnvs(KeyValue.newBuilder().setKey(name).setValue(value)));
        for (ContainerConfig.Mount mount : config.mounts()) {
            container.addMounts(Mount.newBuilder()
                    .setContainerPath(mount.containerPath())
                    .setHostPath(mount.hostPath())
                    .setReadonly(mount.readonly())
                    .setPropagation(
                            MountPropagation.forNumber(mount.propagation().ordinal())));
        }
        for (ContainerConfig.Device device : config.devices()) {
            container.addDevices(Device.newBuilder()
                    .setContainerPath(device.containerPath())
                    .setHostPath(device.hostPath())
                    .setPermissions(device.permissions()));
        }
        config.cdiDevices()
                .forEach(name -> container.addCdiDevices(CDIDevice.newBuilder().setName(name)));
        return container.build();
    }

    /** Only the processors: what is absent stays as it is. */
    static LinuxContainerResources processors(String cpus) {
        return LinuxContainerResources.newBuilder().setCpusetCpus(cpus).build();
    }

    private static LinuxContainerResources resources(ContainerConfig.Resources limits) {
        LinuxContainerResources.Builder resources = LinuxContainerResources.newBuilder()
                .setCpuShares(limits.cpuShares())
                .setCpuQuota(limits.cpuQuota())
                .setCpuPeriod(limits.cpuPeriod())
                .setMemoryLimitInBytes(limits.memoryLimit())
                .setOomScoreAdj(limits.oomScoreAdjust())
                .setCpusetCpus(limits.cpus());
        new TreeMap<>(limits.hugePages())
                .forEach((size, bytes) -> resources.addHugepageLimits(
                        HugepageLimit.newBuilder().setPageSize(size).setLimit(bytes)));
        if (limits.killedTogether()) {
            resources.putUnified("memory.oom.group", "1");
        }
        return resources.build();
    }

    private static LinuxContainerSecurityContext security(ContainerConfig.Security rights) {
        var context = LinuxContainerSecurityContext.newBuilder()
                .setPrivileged(rights.privileged())
                .setNamespaceOptions(namespaces(rights.namespaces()))
                .addAllSupplementalGroups(rights.supplementalGroups())
                .setReadonlyRootfs(rights.readonlyRoot())
                .setNoNewPrivs(rights.noNewPrivileges())
                .setCapabilities(Capability.newBuilder()
                        .addAllAddCapabilities(rights.addedCapabilities())
                        .addAllDropCapabilities(rights.droppedCapabilities()))
                .setSeccomp(profile(rights.seccomp()));
        rights.user()
                .ifPresent(user -> context.setRunAsUser(Int64Value.newBuilder().setValue(user)));
        context.setRunAsUsername(rights.userName());
        rights.group()
                .ifPresent(
                        group -> context.setRunAsGroup(Int64Value.newBuilder().setValue(group)));
        if (rights.strictGroups()) {
            context.setSupplementalGroupsPolicy(SupplementalGroupsPolicy.Strict);
        }
        rights.appArmor().ifPresent(profile -> context.setApparmor(profile(profile)));
        rights.selinux().ifPresent(label -> context.setSelinuxOptions(selinux(label)));
        if (rights.maskProc()) {
            context.addAllMaskedPaths(MASKED).addAllReadonlyPaths(READONLY);
        }
        return context.build();
    }

    private static io.nodekeeper.cri.v1.SecurityProfile profile(SecurityProfile profile) {
        return io.nodekeeper.cri.v1.SecurityProfile.newBuilder()
                .setProfileTypeValue(profile.type().ordinal())
                .setLocalhostRef(profile.reference())
                .build();
    }

    private static SELinuxOption selinux(SelinuxLabel label) {
        return SELinuxOption.newBuilder()
                .setUser(label.user())
                .setRole(label.role())
                .setType(label.type())
                .setLevel(label.level())
                .build();
    }

    private static NamespaceOption namespaces(SandboxOptions.Namespaces shared) {
        NamespaceOption.Builder namespaces = NamespaceOption.newBuilder()
                .setNetwork(shared.hostNetwork() ? NamespaceMode.NODE : NamespaceMode.POD)
                .setIpc(shared.hostIpc() ? NamespaceMode.NODE : NamespaceMode.POD)
                .setPid(
                        shared.hostPid()
                                ? NamespaceMode.NODE
                                : shared.sharedPid() ? NamespaceMode.POD : NamespaceMode.CONTAINER);
        shared.targetContainer()
                .ifPresent(id -> namespaces.setPid(NamespaceMode.TARGET).setTargetId(id));
        return namespaces.build();
    }
}
