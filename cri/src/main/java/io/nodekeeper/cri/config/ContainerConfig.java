package io.nodekeeper.cri.config;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The configuration of a new container. Immutable.
 *
 * @param attempt how many containers of that name the pod had before
 * @param image the reference that the runtime gave for a pulled image
 * @param command replaces the image's entrypoint; empty for that of the image
 * @param args replaces the image's command; empty for that of the image
 * @param workingDir empty for that of the image
 * @param environment name → value, in order
 * @param logPath relative to the sandbox's log directory
 * @param devices of the host that it may use
 * @param cdiDevices full names of CDI devices, such as {@code vendor.com/class=name}
 */
public record ContainerConfig(
        String name,
        int attempt,
        String image,
        List<String> command,
        List<String> args,
        String workingDir,
        Map<String, String> environment,
        List<Mount> mounts,
        Map<String, String> labels,
        Map<String, String> annotations,
        String logPath,
        Terminal terminal,
        Resources resources,
        Security security,
        List<Device> devices,
        List<String> cdiDevices) {

    /** Keeps copies; the environment keeps its order. */
    public ContainerConfig {
        command = List.copyOf(command);
        args = List.copyOf(args);
        environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
        mounts = List.copyOf(mounts);
        labels = Map.copyOf(labels);
        annotations = Map.copyOf(annotations);
        devices = List.copyOf(devices);
        cdiDevices = List.copyOf(cdiDevices);
    }

    /** Without the environment and the command, which may contain secrets. */
    @Override
    public String toString() {
        return "ContainerConfig[" + name + ", attempt " + attempt + ", image " + image + "]";
    }

    /** A file or directory of the host that the container sees. Both paths are absolute. */
    public record Mount(String containerPath, String hostPath, boolean readonly, Propagation propagation) {}

    /**
     * A device of the host that the container may use. Both paths are absolute.
     *
     * @param permissions some of {@code r}, {@code w} and {@code m} (mknod)
     */
    public record Device(String containerPath, String hostPath, String permissions) {}

    /** Whether mounts below a mount are passed on. In the order of CRI's numbers. */
    public enum Propagation {
        /** Not passed on. */
        PRIVATE,
        /** New mounts on the host appear in the container. */
        HOST_TO_CONTAINER,
        /** In both directions. */
        BIDIRECTIONAL
    }

    /** Whether the container has an open standard input and a terminal. */
    public record Terminal(boolean stdin, boolean stdinOnce, boolean tty) {
        /** Neither. */
        public static final Terminal NONE = new Terminal(false, false, false);
    }

    /**
     * Limits.
     *
     * @param cpuShares relative weight of processor time
     * @param cpuQuota µs of processor time in each period; 0 for no limit
     * @param cpuPeriod µs; 0 for the kernel's default
     * @param memoryLimit bytes; 0 for no limit
     * @param oomScoreAdjust from -1000 to 1000; the kernel kills the highest first
     * @param killedTogether whether the kernel kills all processes of the container if it kills one for lack of memory; only
     *     with version 2 of cgroups
     * @param cpus the processors that may be used, such as {@code 0-3,7}; empty for all
     * @param hugePages the bytes of huge pages that may be used, by the size of a page in the kernel's words, such as {@code
     *     2MB}; a size that is absent is not limited
     */
    public record Resources(
            long cpuShares,
            long cpuQuota,
            long cpuPeriod,
            long memoryLimit,
            int oomScoreAdjust,
            boolean killedTogether,
            String cpus,
            Map<String, Long> hugePages) {
        /** Keeps a copy. */
        public Resources {
            hugePages = Map.copyOf(hugePages);
        }

        /** Limits without any of processors and huge pages. */
        public Resources(
                long cpuShares,
                long cpuQuota,
                long cpuPeriod,
                long memoryLimit,
                int oomScoreAdjust,
                boolean killedTogether) {
            this(cpuShares, cpuQuota, cpuPeriod, memoryLimit, oomScoreAdjust, killedTogether, "", Map.of());
        }

        /** The same on these processors. */
        public Resources on(String others) {
            return new Resources(
                    cpuShares, cpuQuota, cpuPeriod, memoryLimit, oomScoreAdjust, killedTogether, others, hugePages);
        }
    }

    /**
     * Rights of the container's processes.
     *
     * @param user the number of the user; empty if it is known by name only
     * @param userName the name of the user; empty if the number is known
     * @param group empty for that of the user
     * @param strictGroups whether the groups that the image gives the user do not count
     * @param seccomp the filter of system calls
     * @param appArmor empty for the runtime's choice
     * @param selinux empty for the runtime's choice
     * @param maskProc whether parts of {@code /proc} and {@code /sys} are hidden or read-only, as usual
     */
    public record Security(
            boolean privileged,
            SandboxOptions.Namespaces namespaces,
            OptionalLong user,
            String userName,
            OptionalLong group,
            List<Long> supplementalGroups,
            boolean strictGroups,
            boolean readonlyRoot,
            boolean noNewPrivileges,
            List<String> addedCapabilities,
            List<String> droppedCapabilities,
            SecurityProfile seccomp,
            Optional<SecurityProfile> appArmor,
            Optional<SelinuxLabel> selinux,
            boolean maskProc) {
        /** Keeps copies. */
        public Security {
            supplementalGroups = List.copyOf(supplementalGroups);
            addedCapabilities = List.copyOf(addedCapabilities);
            droppedCapabilities = List.copyOf(droppedCapabilities);
        }
    }
}
