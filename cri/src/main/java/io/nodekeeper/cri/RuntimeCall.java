package io.nodekeeper.cri;

import io.nodekeeper.cri.config.ContainerConfig;
import io.nodekeeper.cri.config.RegistryCredentials;
import io.nodekeeper.cri.config.SandboxConfig;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * One call to a container runtime: a query or a command. Immutable.
 *
 * @param <T> the type of the answer
 */
public sealed interface RuntimeCall<T> {

    /** The name of the method in CRI, such as {@code PodSandboxStatus}. */
    String method();

    /** The sandbox that the call is about. */
    default Optional<String> sandboxId() {
        return Optional.empty();
    }

    /** The container that the call is about. */
    default Optional<String> containerId() {
        return Optional.empty();
    }

    /** The UID of the pod that the call is about, if the call contains it. */
    default Optional<String> podUid() {
        return Optional.empty();
    }

    /** Whether the call is about one pod, and not about the node. */
    default boolean isOfPod() {
        return podUid().isPresent() || sandboxId().isPresent() || containerId().isPresent() || dependsOnPod();
    }

    /**
     * How long a healthy runtime may take because of what the call asks for, such as a container's grace period. Zero
     * for most calls.
     */
    default Duration expected() {
        return Duration.ZERO;
    }

    /**
     * Whether the outcome depends on what a pod's owner wrote, such as an image or a command: then a refusal says
     * nothing about the runtime.
     */
    default boolean dependsOnPod() {
        return false;
    }

    /**
     * Whether the call sets a limit to the time of a pod's own process: that the runtime reports the limit as passed says
     * nothing about the runtime.
     */
    default boolean limitsPodsTime() {
        return false;
    }

    /** Reads the runtime's name and version. */
    record GetVersion() implements RuntimeCall<RuntimeVersion> {
        @Override
        public String method() {
            return "Version";
        }
    }

    /** Reads whether the runtime and its network are ready. */
    record GetStatus() implements RuntimeCall<RuntimeStatus> {
        @Override
        public String method() {
            return "Status";
        }
    }

    /** All sandboxes, or those of one pod. */
    record ListSandboxes(Optional<String> podUid) implements RuntimeCall<List<PodSandbox>> {
        @Override
        public String method() {
            return "ListPodSandbox";
        }
    }

    /** State and addresses of one sandbox. */
    record GetSandbox(String id) implements RuntimeCall<PodSandboxStatus> {
        @Override
        public String method() {
            return "PodSandboxStatus";
        }

        @Override
        public Optional<String> sandboxId() {
            return Optional.of(id);
        }
    }

    /** All containers, running or not, or those of one pod. */
    record ListContainers(Optional<String> podUid) implements RuntimeCall<List<Container>> {
        @Override
        public String method() {
            return "ListContainers";
        }
    }

    /** State of one container. */
    record GetContainer(String id) implements RuntimeCall<ContainerStatus> {
        @Override
        public String method() {
            return "ContainerStatus";
        }

        @Override
        public Optional<String> containerId() {
            return Optional.of(id);
        }
    }

    /** The resource usage of one container: the cheapest call that reaches its shim. */
    record GetContainerStats(String id) implements RuntimeCall<ContainerUsage> {
        @Override
        public String method() {
            return "ContainerStats";
        }

        @Override
        public Optional<String> containerId() {
            return Optional.of(id);
        }
    }

    /** Tells the runtime the node's pod CIDR, several separated by commas. */
    record SetPodCidr(String cidr) implements RuntimeCall<Done> {
        @Override
        public String method() {
            return "UpdateRuntimeConfig";
        }
    }

    /** The images on the node, without their users. */
    record ListImages() implements RuntimeCall<List<Image>> {
        @Override
        public String method() {
            return "ListImages";
        }
    }

    /** An image on the node by its name or id; empty if the node does not have it. The answer may have 256 KiB. */
    record GetImage(String image) implements RuntimeCall<Optional<Image>> {
        @Override
        public String method() {
            return "ImageStatus";
        }

        @Override
        public boolean dependsOnPod() {
            return true;
        }
    }

    /**
     * Pulls an image; returns its reference.
     *
     * @param sandbox of the pod that needs the image
     * @param credentials for the image's registry; empty for none
     */
    record PullImage(String image, SandboxConfig sandbox, Optional<RegistryCredentials> credentials)
            implements RuntimeCall<String> {
        /** A large image on a slow network takes minutes; the runtime continues where a cancelled pull stopped. */
        public static final Duration LONGEST = Duration.ofMinutes(15);

        @Override
        public String method() {
            return "PullImage";
        }

        @Override
        public Optional<String> podUid() {
            return Optional.of(sandbox.podUid());
        }

        @Override
        public Duration expected() {
            return LONGEST;
        }

        @Override
        public boolean dependsOnPod() {
            return true;
        }
    }

    /** Removes an image with all of its names; succeeds if the node does not have it. */
    record RemoveImage(String image) implements RuntimeCall<Done> {
        @Override
        public String method() {
            return "RemoveImage";
        }
    }

    /**
     * Reads from the runtime's own status which image all sandboxes are made from; empty if it does not say. Its method is
     * that of {@link GetStatus}.
     */
    record GetSandboxImage() implements RuntimeCall<Optional<String>> {
        @Override
        public String method() {
            return "Status";
        }
    }

    /** The file systems that contain images; the first one is used. */
    record GetImageFilesystems() implements RuntimeCall<List<ImageFilesystem>> {
        @Override
        public String method() {
            return "ImageFsInfo";
        }
    }

    /**
     * Creates a sandbox with its own network; returns its id.
     *
     * @param handler of the runtime's configuration; empty for its default
     */
    record RunSandbox(SandboxConfig config, String handler) implements RuntimeCall<String> {
        /** A sandbox with the runtime's default handler. */
        public RunSandbox(SandboxConfig config) {
            this(config, "");
        }

        @Override
        public String method() {
            return "RunPodSandbox";
        }

        @Override
        public Optional<String> podUid() {
            return Optional.of(config.podUid());
        }
    }

    /** Stops everything in a sandbox and tears its network down. */
    record StopSandbox(String id) implements RuntimeCall<Done> {
        @Override
        public String method() {
            return "StopPodSandbox";
        }

        @Override
        public Optional<String> sandboxId() {
            return Optional.of(id);
        }
    }

    /** Removes a sandbox, and its containers by force. */
    record RemoveSandbox(String id) implements RuntimeCall<Done> {
        @Override
        public String method() {
            return "RemovePodSandbox";
        }

        @Override
        public Optional<String> sandboxId() {
            return Optional.of(id);
        }
    }

    /** Creates a container in a sandbox, without starting it; returns its id. */
    record CreateContainer(String sandbox, ContainerConfig config, SandboxConfig sandboxConfig)
            implements RuntimeCall<String> {
        @Override
        public String method() {
            return "CreateContainer";
        }

        @Override
        public Optional<String> sandboxId() {
            return Optional.of(sandbox);
        }

        @Override
        public Optional<String> podUid() {
            return Optional.of(sandboxConfig.podUid());
        }

        @Override
        public boolean dependsOnPod() {
            return true;
        }
    }

    /** Starts a created container. */
    record StartContainer(String id) implements RuntimeCall<Done> {
        @Override
        public String method() {
            return "StartContainer";
        }

        @Override
        public Optional<String> containerId() {
            return Optional.of(id);
        }

        @Override
        public boolean dependsOnPod() {
            return true;
        }
    }

    /** Asks a container to end, and kills it after {@code grace}, which is counted in whole seconds. */
    record StopContainer(String id, Duration grace) implements RuntimeCall<Done> {
        @Override
        public String method() {
            return "StopContainer";
        }

        @Override
        public Optional<String> containerId() {
            return Optional.of(id);
        }

        @Override
        public Duration expected() {
            return grace;
        }
    }

    /**
     * Moves a container to other processors; its other limits stay.
     *
     * @param cpus such as {@code 0-3,7}
     */
    record PinContainer(String id, String cpus) implements RuntimeCall<Done> {
        @Override
        public String method() {
            return "UpdateContainerResources";
        }

        @Override
        public Optional<String> containerId() {
            return Optional.of(id);
        }
    }

    /** Tells the runtime to open the log file of a running container again, because the file was renamed. */
    record ReopenLog(String id) implements RuntimeCall<Done> {
        @Override
        public String method() {
            return "ReopenContainerLog";
        }

        @Override
        public Optional<String> containerId() {
            return Optional.of(id);
        }
    }

    /** Removes a container, by force if it runs. */
    record RemoveContainer(String id) implements RuntimeCall<Done> {
        @Override
        public String method() {
            return "RemoveContainer";
        }

        @Override
        public Optional<String> containerId() {
            return Optional.of(id);
        }
    }

    /**
     * Prepares to run a command in a container; returns the URL at which the runtime's streaming server runs it, once.
     *
     * @param streams which of its streams are connected
     */
    record Exec(String id, List<String> command, Streams streams) implements RuntimeCall<String> {
        /** Keeps a copy. */
        public Exec {
            command = List.copyOf(command);
        }

        @Override
        public String method() {
            return "Exec";
        }

        @Override
        public Optional<String> containerId() {
            return Optional.of(id);
        }

        @Override
        public boolean dependsOnPod() {
            return true;
        }
    }

    /** Prepares to attach to a container's first process; returns a URL as {@link Exec} does. */
    record Attach(String id, Streams streams) implements RuntimeCall<String> {
        @Override
        public String method() {
            return "Attach";
        }

        @Override
        public Optional<String> containerId() {
            return Optional.of(id);
        }

        @Override
        public boolean dependsOnPod() {
            return true;
        }
    }

    /**
     * Prepares to forward connections to a pod; returns a URL as {@link Exec} does.
     *
     * @param ports for clients that name them in advance; usually empty
     */
    record PortForward(String sandbox, List<Integer> ports) implements RuntimeCall<String> {
        /** Keeps a copy. */
        public PortForward {
            ports = List.copyOf(ports);
        }

        @Override
        public String method() {
            return "PortForward";
        }

        @Override
        public Optional<String> sandboxId() {
            return Optional.of(sandbox);
        }

        @Override
        public boolean dependsOnPod() {
            return true;
        }
    }

    /**
     * The streams of a process that a client is connected to.
     *
     * @param tty whether they are a terminal's; then it has no separate stream for errors
     */
    record Streams(boolean stdin, boolean stdout, boolean stderr, boolean tty) {}

    /**
     * Runs a command in a running container and waits for its end.
     *
     * @param timeout after which the runtime kills the command; rounded up to whole seconds
     * @param most the largest answer in bytes: a command writes what it likes, and many may answer at the same moment
     */
    record ExecSync(String container, List<String> command, Duration timeout, int most)
            implements RuntimeCall<ExecSync.Result> {
        /** The most bytes of output that are kept: the kubelet's limit for probes. */
        public static final int MOST_OUTPUT = 10 << 10;

        /**
         * How the command ended.
         *
         * @param output what it wrote, standard output first, cut to {@link #MOST_OUTPUT}
         */
        public record Result(int exitCode, String output) {}

        /** Keeps a copy. */
        public ExecSync {
            command = List.copyOf(command);
        }

        @Override
        public String method() {
            return "ExecSync";
        }

        @Override
        public Optional<String> containerId() {
            return Optional.of(container);
        }

        @Override
        public Duration expected() {
            return timeout;
        }

        @Override
        public boolean dependsOnPod() {
            return true;
        }

        @Override
        public boolean limitsPodsTime() {
            return true;
        }
    }

    /** An answer without content. */
    enum Done {
        /** The call succeeded. */
        DONE
    }
}
