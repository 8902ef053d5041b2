package io.nodekeeper.it;

import io.grpc.ManagedChannel;
import io.grpc.stub.AbstractStub;
import io.nodekeeper.cri.CriChannels;
import io.nodekeeper.cri.v1.Container;
import io.nodekeeper.cri.v1.ContainerConfig;
import io.nodekeeper.cri.v1.ContainerMetadata;
import io.nodekeeper.cri.v1.CreateContainerRequest;
import io.nodekeeper.cri.v1.ExecSyncRequest;
import io.nodekeeper.cri.v1.Image;
import io.nodekeeper.cri.v1.ImageServiceGrpc;
import io.nodekeeper.cri.v1.ImageSpec;
import io.nodekeeper.cri.v1.LinuxPodSandboxConfig;
import io.nodekeeper.cri.v1.ListContainersRequest;
import io.nodekeeper.cri.v1.ListImagesRequest;
import io.nodekeeper.cri.v1.ListPodSandboxRequest;
import io.nodekeeper.cri.v1.Mount;
import io.nodekeeper.cri.v1.PodSandbox;
import io.nodekeeper.cri.v1.PodSandboxConfig;
import io.nodekeeper.cri.v1.PodSandboxMetadata;
import io.nodekeeper.cri.v1.RemovePodSandboxRequest;
import io.nodekeeper.cri.v1.RunPodSandboxRequest;
import io.nodekeeper.cri.v1.RuntimeServiceGrpc;
import io.nodekeeper.cri.v1.StartContainerRequest;
import io.nodekeeper.cri.v1.StopContainerRequest;
import io.nodekeeper.cri.v1.StopPodSandboxRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Creates and removes pods over CRI, as a kubelet does. Thread-safe. */
public final class Pods implements AutoCloseable {
    /** As long as a kubelet waits. */
    private static final Duration PATIENCE = Duration.ofMinutes(4);
    /** For lists, on a machine that is busy. */
    private static final Duration LIST = Duration.ofSeconds(30);
    /** A sandbox's own grace, seconds: nothing in it listens to SIGTERM. */
    private static final int GRACE = 1;

    private final Containerd containerd;
    private final ManagedChannel channel;
    private final ExecutorService background = Executors.newVirtualThreadPerTaskExecutor();

    /** A pod of one container, which runs. */
    public record RealPod(String name, String uid, String sandbox, String container) {}

    Pods(Containerd containerd) {
        this.containerd = containerd;
        channel = CriChannels.open(containerd.socket());
    }

    /** Makes one pod that does nothing, and starts it. */
    public RealPod run(String name) {
        return run(name, "exec sleep 1000000", Map.of());
    }

    /** Makes one pod whose container runs a script of the shell, with these directories of the host in these places. */
    public RealPod run(String name, String script, Map<Path, String> volumes) {
        return run(name, script, volumes, sandbox(name));
    }

    /** Makes {@code count} pods side by side, called {@code prefix-0} and so on. */
    List<RealPod> runMany(String prefix, int count) {
        List<CompletableFuture<RealPod>> pods = IntStream.range(0, count)
                .mapToObj(i -> CompletableFuture.supplyAsync(() -> run(prefix + "-" + i), background))
                .toList();
        return pods.stream().map(CompletableFuture::join).toList();
    }

    private RealPod run(String name, String script, Map<Path, String> volumes, String sandbox) {
        ContainerConfig.Builder config = ContainerConfig.newBuilder()
                .setMetadata(ContainerMetadata.newBuilder().setName("main"))
                .setImage(ImageSpec.newBuilder().setImage(BusyboxImages.BUSYBOX))
                .addAllCommand(List.of("/bin/sh", "-c", script))
                .putAllLabels(labels(name))
                .putLabels("io.kubernetes.container.name", "main")
                .setLogPath("main.log");
        volumes.forEach((host, path) ->
                config.addMounts(Mount.newBuilder().setHostPath(host.toString()).setContainerPath(path)));
        String container = stub(PATIENCE)
                .createContainer(CreateContainerRequest.newBuilder()
                        .setPodSandboxId(sandbox)
                        .setConfig(config)
                        .setSandboxConfig(config(name))
                        .build())
                .getContainerId();
        stub(PATIENCE)
                .startContainer(StartContainerRequest.newBuilder()
                        .setContainerId(container)
                        .build());
        return new RealPod(name, uid(name), sandbox, container);
    }

    private String sandbox(String name) {
        return stub(PATIENCE)
                .runPodSandbox(RunPodSandboxRequest.newBuilder()
                        .setConfig(config(name))
                        .build())
                .getPodSandboxId();
    }

    /** Begins to create a pod, which may hang; the future ends with the attempt. */
    public CompletableFuture<RealPod> begin(String name) {
        return CompletableFuture.supplyAsync(() -> run(name), background);
    }

    /** Stops the container and the sandbox, in the background, as it may hang. */
    public CompletableFuture<Void> stop(RealPod pod) {
        return CompletableFuture.runAsync(
                () -> {
                    stub(PATIENCE)
                            .stopContainer(StopContainerRequest.newBuilder()
                                    .setContainerId(pod.container)
                                    .setTimeout(GRACE)
                                    .build());
                    stub(PATIENCE)
                            .stopPodSandbox(StopPodSandboxRequest.newBuilder()
                                    .setPodSandboxId(pod.sandbox)
                                    .build());
                },
                background);
    }

    /** Stops and removes it. */
    public CompletableFuture<Void> remove(RealPod pod) {
        return stop(pod)
                .thenRunAsync(
                        () -> stub(PATIENCE)
                                .removePodSandbox(RemovePodSandboxRequest.newBuilder()
                                        .setPodSandboxId(pod.sandbox)
                                        .build()),
                        background);
    }

    /** Runs a command in the container, as probes do. */
    public CompletableFuture<Integer> exec(RealPod pod, String... command) {
        return CompletableFuture.supplyAsync(
                () -> stub(PATIENCE)
                        .execSync(ExecSyncRequest.newBuilder()
                                .setContainerId(pod.container)
                                .addAllCmd(List.of(command))
                                .setTimeout(1)
                                .build())
                        .getExitCode(),
                background);
    }

    /** CRI itself, for other questions; a call takes {@code deadline} at most. */
    public RuntimeServiceGrpc.RuntimeServiceBlockingStub stub(Duration deadline) {
        return within(RuntimeServiceGrpc.newBlockingStub(channel), deadline);
    }

    /** The sandboxes that the runtime has. */
    List<PodSandbox> sandboxes() {
        return stub(LIST)
                .listPodSandbox(ListPodSandboxRequest.getDefaultInstance())
                .getItemsList();
    }

    /** The containers that the runtime has. */
    List<Container> containers() {
        return stub(LIST)
                .listContainers(ListContainersRequest.getDefaultInstance())
                .getContainersList();
    }

    /** The images that the runtime has. */
    List<Image> images() {
        return within(ImageServiceGrpc.newBlockingStub(channel), LIST)
                .listImages(ListImagesRequest.getDefaultInstance())
                .getImagesList();
    }

    private static <S extends AbstractStub<S>> S within(S stub, Duration deadline) {
        return stub.withDeadlineAfter(deadline.toMillis(), TimeUnit.MILLISECONDS)
                .withWaitForReady();
    }

    private PodSandboxConfig config(String name) {
        return PodSandboxConfig.newBuilder()
                .setMetadata(PodSandboxMetadata.newBuilder()
                        .setName(name)
                        .setUid(uid(name))
                        .setNamespace("default"))
                .setHostname(name)
                .setLogDirectory(
                        containerd.directory().resolve("logs").resolve(name).toString())
                .putAllLabels(labels(name))
                .setLinux(LinuxPodSandboxConfig.newBuilder()
                        .setCgroupParent("/" + containerd.name() + "/pod" + uid(name)))
                .build();
    }

    private static Map<String, String> labels(String name) {
        return Map.of(
                "io.kubernetes.pod.name",
                name,
                "io.kubernetes.pod.namespace",
                "default",
                "io.kubernetes.pod.uid",
                uid(name));
    }

    /** A pod's UID, by its name. */
    public static String uid(String name) {
        return "uid-" + name;
    }

    /** Cancels everything that runs. */
    @Override
    public void close() {
        channel.shutdownNow();
        background.shutdown();
    }
}
