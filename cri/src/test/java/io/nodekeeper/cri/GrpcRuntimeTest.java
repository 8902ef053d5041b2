package io.nodekeeper.cri;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.grpc.Context;
import io.grpc.Status;
import io.nodekeeper.cri.config.ContainerConfig;
import io.nodekeeper.cri.config.SandboxConfig;
import io.nodekeeper.cri.config.SandboxOptions;
import io.nodekeeper.cri.config.SecurityProfile;
import io.nodekeeper.cri.config.SelinuxLabel;
import io.nodekeeper.cri.containerd.Envelope;
import io.nodekeeper.cri.containerd.EventsGrpc;
import io.nodekeeper.cri.containerd.SubscribeRequest;
import io.nodekeeper.cri.containerd.TaskExit;
import io.nodekeeper.cri.containerd.TypedEvent;
import io.nodekeeper.cri.v1.ContainerAttributes;
import io.nodekeeper.cri.v1.ContainerEventResponse;
import io.nodekeeper.cri.v1.ContainerEventType;
import io.nodekeeper.cri.v1.ContainerMetadata;
import io.nodekeeper.cri.v1.ContainerStats;
import io.nodekeeper.cri.v1.ContainerStatsResponse;
import io.nodekeeper.cri.v1.ContainerStatusResponse;
import io.nodekeeper.cri.v1.CpuUsage;
import io.nodekeeper.cri.v1.CreateContainerRequest;
import io.nodekeeper.cri.v1.CreateContainerResponse;
import io.nodekeeper.cri.v1.ExecSyncResponse;
import io.nodekeeper.cri.v1.FilesystemIdentifier;
import io.nodekeeper.cri.v1.FilesystemUsage;
import io.nodekeeper.cri.v1.ImageFsInfoResponse;
import io.nodekeeper.cri.v1.ImageServiceGrpc;
import io.nodekeeper.cri.v1.ImageSpec;
import io.nodekeeper.cri.v1.ImageStatusResponse;
import io.nodekeeper.cri.v1.LinuxContainerResources;
import io.nodekeeper.cri.v1.ListContainersRequest;
import io.nodekeeper.cri.v1.ListContainersResponse;
import io.nodekeeper.cri.v1.ListImagesResponse;
import io.nodekeeper.cri.v1.ListPodSandboxRequest;
import io.nodekeeper.cri.v1.ListPodSandboxResponse;
import io.nodekeeper.cri.v1.MemoryUsage;
import io.nodekeeper.cri.v1.PodIP;
import io.nodekeeper.cri.v1.PodSandboxMetadata;
import io.nodekeeper.cri.v1.PodSandboxNetworkStatus;
import io.nodekeeper.cri.v1.PodSandboxState;
import io.nodekeeper.cri.v1.PodSandboxStatusResponse;
import io.nodekeeper.cri.v1.RemoveImageResponse;
import io.nodekeeper.cri.v1.RemovePodSandboxResponse;
import io.nodekeeper.cri.v1.RunPodSandboxRequest;
import io.nodekeeper.cri.v1.RunPodSandboxResponse;
import io.nodekeeper.cri.v1.RuntimeFeatures;
import io.nodekeeper.cri.v1.RuntimeHandlerFeatures;
import io.nodekeeper.cri.v1.RuntimeServiceGrpc;
import io.nodekeeper.cri.v1.StatusResponse;
import io.nodekeeper.cri.v1.StopPodSandboxResponse;
import io.nodekeeper.cri.v1.UInt64Value;
import io.nodekeeper.cri.v1.UpdateContainerResourcesRequest;
import io.nodekeeper.cri.v1.UpdateContainerResourcesResponse;
import io.nodekeeper.cri.v1.UpdateRuntimeConfigRequest;
import io.nodekeeper.cri.v1.UpdateRuntimeConfigResponse;
import io.nodekeeper.cri.v1.VersionRequest;
import io.nodekeeper.cri.v1.VersionResponse;
import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The client against a gRPC server on a real socket, in real time. */
class GrpcRuntimeTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(100);

    @TempDir
    Path dir;

    private Path socket;
    private ThreadLoop loop;
    private FakeCri cri;
    private GrpcRuntime runtime;

    @BeforeEach
    void start() throws IOException {
        socket = dir.resolve("cri.sock");
        loop = new ThreadLoop("loop");
        cri = new FakeCri(socket).answer(RuntimeServiceGrpc.getVersionMethod(), request -> version("0.1.0"));
        runtime = new GrpcRuntime(socket, loop);
    }

    @AfterEach
    void stop() throws Exception {
        runtime.close();
        cri.close();
        loop.close();
    }

    private static VersionResponse version(String version) {
        return VersionResponse.newBuilder()
                .setVersion(version)
                .setRuntimeName("containerd")
                .setRuntimeVersion("1.6.20")
                .setRuntimeApiVersion("v1")
                .build();
    }

    private <T> T ask(RuntimeCall<T> call) throws Exception {
        return Until.done(runtime.call(call, LONG));
    }

    private Throwable refused(RuntimeCall<?> call) throws Exception {
        return Until.failed(runtime.call(call, LONG));
    }

    @Test
    void outputOfACommandIsCutAndMuchMoreOfItEndsTheCall() throws Exception {
        AtomicInteger size = new AtomicInteger(30_000);
        cri.answer(
                RuntimeServiceGrpc.getExecSyncMethod(),
                request -> ExecSyncResponse.newBuilder()
                        .setStdout(ByteString.copyFromUtf8("x".repeat(size.get())))
                        .build());
        RuntimeCall.ExecSync command = new RuntimeCall.ExecSync("c1", List.of("check"), LONG, 32 << 10);

        assertThat(ask(command)).isEqualTo(new RuntimeCall.ExecSync.Result(0, "x".repeat(10 << 10)));

        size.set(40_000);
        assertThat(refused(command))
                .isInstanceOfSatisfying(
                        RuntimeCallException.class,
                        error -> assertThat(error.code()).isEqualTo(RuntimeCallException.Code.TOO_LARGE));
        assertThat(ask(new RuntimeCall.ExecSync("c1", List.of("check"), LONG, 128 << 10))
                        .exitCode())
                .isZero();
        // and the connection goes on
        assertThat(ask(new RuntimeCall.GetVersion()).name()).isEqualTo("containerd");
    }

    @Test
    void versionIsAskedForAsKubernetesDoes() throws Exception {
        assertThat(ask(new RuntimeCall.GetVersion())).isEqualTo(new RuntimeVersion("containerd", "1.6.20", "v1"));
        assertThat(cri.requests())
                .containsExactly(VersionRequest.newBuilder().setVersion("0.1.0").build());
    }

    @Test
    void versionWithAnEmptyFieldIsAnError() throws Exception {
        cri.answer(
                RuntimeServiceGrpc.getVersionMethod(),
                request -> version("0.1.0").toBuilder().clearRuntimeVersion().build());

        assertThat(refused(new RuntimeCall.GetVersion()))
                .isInstanceOf(RuntimeCallException.class)
                .hasMessage("Version: UNREADABLE: an answer with all four fields was expected, got version \"0.1.0\","
                        + " runtime_name \"containerd\", runtime_version \"\", runtime_api_version \"v1\"");
    }

    @Test
    void anotherVersionOfTheInterfaceIsAnError() throws Exception {
        cri.answer(RuntimeServiceGrpc.getVersionMethod(), request -> version("0.2.0"));

        assertThat(refused(new RuntimeCall.GetVersion()))
                .hasMessageContaining("version \"0.1.0\" of the interface was expected, got version \"0.2.0\"");
    }

    @Test
    void statusTellsConditionsHandlersAndFeatures() throws Exception {
        cri.answer(
                RuntimeServiceGrpc.getStatusMethod(),
                request -> StatusResponse.newBuilder()
                        .setStatus(io.nodekeeper.cri.v1.RuntimeStatus.newBuilder()
                                .addConditions(io.nodekeeper.cri.v1.RuntimeCondition.newBuilder()
                                        .setType("RuntimeReady")
                                        .setStatus(true))
                                .addConditions(io.nodekeeper.cri.v1.RuntimeCondition.newBuilder()
                                        .setType("NetworkReady")
                                        .setReason("NetworkPluginNotReady")
                                        .setMessage("cni plugin not initialized")))
                        .addRuntimeHandlers(io.nodekeeper.cri.v1.RuntimeHandler.newBuilder()
                                .setName("runc")
                                .setFeatures(RuntimeHandlerFeatures.newBuilder().setUserNamespaces(true)))
                        .setFeatures(RuntimeFeatures.newBuilder().setSupplementalGroupsPolicy(true))
                        .build());

        assertThat(ask(new RuntimeCall.GetStatus()))
                .isEqualTo(new RuntimeStatus(
                        List.of(
                                new RuntimeCondition("RuntimeReady", true, "", ""),
                                new RuntimeCondition(
                                        "NetworkReady", false, "NetworkPluginNotReady", "cni plugin not initialized")),
                        List.of(new RuntimeHandler("runc", false, true)),
                        Optional.of(true)));
    }

    @Test
    void statusWithoutAStatusIsAnErrorAndWithoutFeaturesIsNot() throws Exception {
        cri.answer(RuntimeServiceGrpc.getStatusMethod(), request -> StatusResponse.getDefaultInstance());
        assertThat(refused(new RuntimeCall.GetStatus()))
                .hasMessage("Status: UNREADABLE: an answer with a status was expected, got none");

        cri.answer(
                RuntimeServiceGrpc.getStatusMethod(),
                request -> StatusResponse.newBuilder()
                        .setStatus(io.nodekeeper.cri.v1.RuntimeStatus.getDefaultInstance())
                        .build());
        assertThat(ask(new RuntimeCall.GetStatus()))
                .isEqualTo(new RuntimeStatus(List.of(), List.of(), Optional.empty()));
    }

    private static PodSandboxMetadata.Builder pod() {
        return PodSandboxMetadata.newBuilder()
                .setName("web")
                .setNamespace("shop")
                .setUid("u1")
                .setAttempt(3);
    }

    @Test
    void sandboxesAreListedForAllOrOnePod() throws Exception {
        cri.answer(
                RuntimeServiceGrpc.getListPodSandboxMethod(),
                request -> ListPodSandboxResponse.newBuilder()
                        .addItems(io.nodekeeper.cri.v1.PodSandbox.newBuilder()
                                .setId("s1")
                                .setMetadata(pod())
                                .setCreatedAt(7))
                        .addItems(io.nodekeeper.cri.v1.PodSandbox.newBuilder()
                                .setId("s2")
                                .setMetadata(pod())
                                .setState(PodSandboxState.SANDBOX_NOTREADY))
                        .build());

        assertThat(ask(new RuntimeCall.ListSandboxes(Optional.empty())))
                .containsExactly(
                        new PodSandbox("s1", "u1", "web", "shop", 3, true, 7),
                        new PodSandbox("s2", "u1", "web", "shop", 3, false, 0));
        ask(new RuntimeCall.ListSandboxes(Optional.of("u1")));
        assertThat((ListPodSandboxRequest) cri.requests().get(0)).isEqualTo(ListPodSandboxRequest.getDefaultInstance());
        assertThat(((ListPodSandboxRequest) cri.requests().get(1)).getFilter().getLabelSelectorMap())
                .isEqualTo(Map.of("io.kubernetes.pod.uid", "u1"));
    }

    @Test
    void sandboxStatusHasAllItsAddresses() throws Exception {
        cri.answer(
                RuntimeServiceGrpc.getPodSandboxStatusMethod(),
                request -> PodSandboxStatusResponse.newBuilder()
                        .setStatus(io.nodekeeper.cri.v1.PodSandboxStatus.newBuilder()
                                .setId(request.getPodSandboxId())
                                .setMetadata(pod())
                                .setNetwork(PodSandboxNetworkStatus.newBuilder()
                                        .setIp("10.1.0.7")
                                        .addAdditionalIps(PodIP.newBuilder().setIp("fd00::7"))))
                        .build());

        assertThat(ask(new RuntimeCall.GetSandbox("s1")))
                .isEqualTo(new PodSandboxStatus(
                        new PodSandbox("s1", "u1", "web", "shop", 3, true, 0), List.of("10.1.0.7", "fd00::7")));
    }

    @Test
    void sandboxStatusAboutAnotherOneIsAnError() throws Exception {
        cri.answer(
                RuntimeServiceGrpc.getPodSandboxStatusMethod(),
                request -> PodSandboxStatusResponse.newBuilder()
                        .setStatus(io.nodekeeper.cri.v1.PodSandboxStatus.newBuilder()
                                .setId("other"))
                        .build());

        assertThat(refused(new RuntimeCall.GetSandbox("s1")))
                .hasMessage(
                        "PodSandboxStatus: UNREADABLE: an answer about \"s1\" was expected, got one about \"other\"");
    }

    @Test
    void containersAreListedForAllOrOnePodAndCreatedIsTheStateLeftOut() throws Exception {
        cri.answer(
                RuntimeServiceGrpc.getListContainersMethod(),
                request -> ListContainersResponse.newBuilder()
                        .addContainers(io.nodekeeper.cri.v1.Container.newBuilder()
                                .setId("c1")
                                .setPodSandboxId("s1")
                                .setMetadata(ContainerMetadata.newBuilder().setName("app"))
                                .putLabels("io.kubernetes.pod.uid", "u1")
                                .setCreatedAt(5))
                        .addContainers(io.nodekeeper.cri.v1.Container.newBuilder()
                                .setId("c2")
                                .setStateValue(2))
                        .addContainers(io.nodekeeper.cri.v1.Container.newBuilder()
                                .setId("c3")
                                .setStateValue(99))
                        .build());

        assertThat(ask(new RuntimeCall.ListContainers(Optional.empty())))
                .containsExactly(
                        new Container("c1", "s1", "app", "u1", ContainerState.CREATED, 5),
                        new Container("c2", "", "", "", ContainerState.EXITED, 0),
                        new Container("c3", "", "", "", ContainerState.UNKNOWN, 0));
        ask(new RuntimeCall.ListContainers(Optional.of("u1")));
        assertThat(((ListContainersRequest) cri.requests().get(1)).getFilter().getLabelSelectorMap())
                .isEqualTo(Map.of("io.kubernetes.pod.uid", "u1"));
    }

    @Test
    void containerStatusTellsHowItEnded() throws Exception {
        cri.answer(
                RuntimeServiceGrpc.getContainerStatusMethod(),
                request -> ContainerStatusResponse.newBuilder()
                        .setStatus(io.nodekeeper.cri.v1.ContainerStatus.newBuilder()
                                .setId(request.getContainerId())
                                .setMetadata(ContainerMetadata.newBuilder().setName("app"))
                                .setStateValue(2)
                                .setStartedAt(10)
                                .setFinishedAt(20)
                                .setExitCode(137)
                                .setReason("OOMKilled"))
                        .build());

        assertThat(ask(new RuntimeCall.GetContainer("c1")))
                .isEqualTo(new ContainerStatus("c1", "app", ContainerState.EXITED, 10, 20, 137, "OOMKilled"));
    }

    @Test
    void containerStatsTellProcessorMemoryAndWritableLayer() throws Exception {
        cri.answer(
                RuntimeServiceGrpc.getContainerStatsMethod(),
                request -> ContainerStatsResponse.newBuilder()
                        .setStats(ContainerStats.newBuilder()
                                .setAttributes(ContainerAttributes.newBuilder().setId(request.getContainerId()))
                                .setCpu(CpuUsage.newBuilder()
                                        .setUsageCoreNanoSeconds(
                                                UInt64Value.newBuilder().setValue(11)))
                                .setMemory(MemoryUsage.newBuilder()
                                        .setWorkingSetBytes(
                                                UInt64Value.newBuilder().setValue(22)))
                                .setWritableLayer(FilesystemUsage.newBuilder()
                                        .setUsedBytes(UInt64Value.newBuilder().setValue(33))
                                        .setInodesUsed(UInt64Value.newBuilder().setValue(44))))
                        .build());

        assertThat(ask(new RuntimeCall.GetContainerStats("c1"))).isEqualTo(new ContainerUsage("c1", 11, 22, 33, 44));
    }

    @Test
    void podCidrIsPassedOn() throws Exception {
        cri.answer(
                RuntimeServiceGrpc.getUpdateRuntimeConfigMethod(),
                request -> UpdateRuntimeConfigResponse.getDefaultInstance());

        assertThat(ask(new RuntimeCall.SetPodCidr("10.1.0.0/24"))).isEqualTo(RuntimeCall.Done.DONE);
        assertThat(((UpdateRuntimeConfigRequest) cri.requests().get(0))
                        .getRuntimeConfig()
                        .getNetworkConfig()
                        .getPodCidr())
                .isEqualTo("10.1.0.0/24");
    }

    @Test
    void imagesAndTheirFilesystemsAreListed() throws Exception {
        cri.answer(
                        ImageServiceGrpc.getListImagesMethod(),
                        request -> ListImagesResponse.newBuilder()
                                .addImages(io.nodekeeper.cri.v1.Image.newBuilder()
                                        .setId("i1")
                                        .addRepoTags("a:1")
                                        .addRepoDigests("a@sha256:00")
                                        .setSize(99))
                                .build())
                .answer(
                        ImageServiceGrpc.getImageFsInfoMethod(),
                        request -> ImageFsInfoResponse.newBuilder()
                                .addImageFilesystems(FilesystemUsage.newBuilder()
                                        .setFsId(FilesystemIdentifier.newBuilder()
                                                .setMountpoint("/var/lib/x"))
                                        .setUsedBytes(UInt64Value.newBuilder().setValue(1000))
                                        .setInodesUsed(UInt64Value.newBuilder().setValue(10)))
                                .build());

        assertThat(ask(new RuntimeCall.ListImages()))
                .containsExactly(new Image("i1", List.of("a@sha256:00"), List.of("a:1"), 99));
        assertThat(ask(new RuntimeCall.GetImageFilesystems()))
                .containsExactly(new ImageFilesystem("/var/lib/x", 1000, 10));
    }

    @Test
    void anImageIsRemovedAndThoseInUseOrPinnedAreKnown() throws Exception {
        cri.answer(
                        ImageServiceGrpc.getRemoveImageMethod(),
                        request -> RemoveImageResponse.newBuilder().build())
                .answer(
                        ImageServiceGrpc.getListImagesMethod(),
                        request -> ListImagesResponse.newBuilder()
                                .addImages(io.nodekeeper.cri.v1.Image.newBuilder()
                                        .setId("i1")
                                        .setPinned(true))
                                .build())
                .answer(
                        RuntimeServiceGrpc.getListContainersMethod(),
                        request -> ListContainersResponse.newBuilder()
                                .addContainers(io.nodekeeper.cri.v1.Container.newBuilder()
                                        .setId("c1")
                                        .setImage(ImageSpec.newBuilder().setImage("a:1"))
                                        .setImageRef("sha256:00"))
                                .build());

        assertThat(ask(new RuntimeCall.RemoveImage("i1"))).isEqualTo(RuntimeCall.Done.DONE);
        assertThat(ask(new RuntimeCall.ListImages())).singleElement().matches(Image::pinned);
        assertThat(ask(new RuntimeCall.ListContainers(Optional.empty()))
                        .getFirst()
                        .images())
                .containsExactlyInAnyOrder("a:1", "sha256:00");
    }

    @Test
    void theImageOfSandboxesIsInTheVerboseStatus() throws Exception {
        cri.answer(
                RuntimeServiceGrpc.getStatusMethod(),
                request -> StatusResponse.newBuilder()
                        .putInfo(
                                "config",
                                request.getVerbose() ? "{\"a\":1,\"sandboxImage\":\"localhost/pause:1\",\"b\":{}}" : "")
                        .build());
        assertThat(ask(new RuntimeCall.GetSandboxImage())).contains("localhost/pause:1");

        cri.answer(RuntimeServiceGrpc.getStatusMethod(), request -> StatusResponse.getDefaultInstance());
        assertThat(ask(new RuntimeCall.GetSandboxImage())).isEmpty();
    }

    @Test
    void sandboxIsMadeStoppedAndRemoved() throws Exception {
        cri.answer(
                        RuntimeServiceGrpc.getRunPodSandboxMethod(),
                        request -> RunPodSandboxResponse.newBuilder()
                                .setPodSandboxId("s9")
                                .build())
                .answer(
                        RuntimeServiceGrpc.getStopPodSandboxMethod(),
                        request -> StopPodSandboxResponse.getDefaultInstance())
                .answer(
                        RuntimeServiceGrpc.getRemovePodSandboxMethod(),
                        request -> RemovePodSandboxResponse.getDefaultInstance());
        String name = "canary-".repeat(10);

        assertThat(ask(new RuntimeCall.RunSandbox(new SandboxConfig("u9", name, "ns", 2, "/logs"))))
                .isEqualTo("s9");
        assertThat(ask(new RuntimeCall.StopSandbox("s9"))).isEqualTo(RuntimeCall.Done.DONE);
        assertThat(ask(new RuntimeCall.RemoveSandbox("s9"))).isEqualTo(RuntimeCall.Done.DONE);

        var config = ((RunPodSandboxRequest) cri.requests().get(0)).getConfig();
        assertThat(config.getMetadata())
                .isEqualTo(PodSandboxMetadata.newBuilder()
                        .setName(name)
                        .setNamespace("ns")
                        .setUid("u9")
                        .setAttempt(2)
                        .build());
        assertThat(config.getHostname()).isEqualTo(name.substring(0, 63));
        assertThat(config.getLogDirectory()).isEqualTo("/logs");
        assertThat(config.getLabelsMap())
                .isEqualTo(Map.of(
                        "io.kubernetes.pod.uid",
                        "u9",
                        "io.kubernetes.pod.name",
                        name,
                        "io.kubernetes.pod.namespace",
                        "ns"));
    }

    @Test
    void aSandboxHasItsHandlerSysctlsLabelAndSize() throws Exception {
        cri.answer(RuntimeServiceGrpc.getRunPodSandboxMethod(), request -> RunPodSandboxResponse.getDefaultInstance());
        SandboxOptions options = new SandboxOptions(
                "web",
                Map.of(),
                Map.of(),
                Optional.empty(),
                List.of(),
                "",
                SandboxOptions.Namespaces.OWN,
                new SandboxOptions.Security(
                        true, Map.of("net.core.somaxconn", "9"), Optional.of(new SelinuxLabel("u", "r", "t", "l"))),
                new SandboxOptions.Size(
                        Optional.of(new ContainerConfig.Resources(512, 0, 0, 100, 0, false)),
                        Optional.of(new ContainerConfig.Resources(256, 25_000, 100_000, 7, 0, false))));

        ask(new RuntimeCall.RunSandbox(new SandboxConfig("u9", "web", "ns", 0, "/logs", options), "kata"));

        RunPodSandboxRequest request = (RunPodSandboxRequest) cri.requests().getFirst();
        var linux = request.getConfig().getLinux();
        assertThat(request.getRuntimeHandler()).isEqualTo("kata");
        assertThat(linux.getSysctlsMap()).isEqualTo(Map.of("net.core.somaxconn", "9"));
        assertThat(linux.getSecurityContext().getPrivileged()).isTrue();
        assertThat(linux.getSecurityContext().hasSeccomp()).isTrue();
        assertThat(linux.getSecurityContext().getSelinuxOptions().getType()).isEqualTo("t");
        assertThat(linux.getResources().getCpuShares()).isEqualTo(512);
        assertThat(linux.getOverhead().getMemoryLimitInBytes()).isEqualTo(7);
    }

    @Test
    void aRequestThatCannotBeMadeFailsAndKeepsNoPlace() throws Exception {
        // given a port with a protocol that the runtime's interface does not have
        SandboxOptions options = new SandboxOptions(
                "web",
                Map.of(),
                Map.of(),
                Optional.empty(),
                List.of(new SandboxOptions.Port("tcp", 80, 8_080, "")),
                "",
                SandboxOptions.Namespaces.OWN,
                SandboxOptions.Security.NONE,
                SandboxOptions.Size.UNKNOWN);

        // when the sandbox is started
        Throwable error =
                refused(new RuntimeCall.RunSandbox(new SandboxConfig("u9", "web", "ns", 0, "/logs", options), ""));

        // then the call fails, and the runtime has no part in it
        assertThat(error)
                .isInstanceOf(RuntimeCallException.class)
                .hasMessageStartingWith("RunPodSandbox: NOT_SENT: the request cannot be made: ");
        assertThat(runtime.underWay()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {1L << 32, 9_223_372_036L, Long.MAX_VALUE})
    void aDeadlineOfCenturiesIsRefusedAndKeepsNoPlace(long seconds) {
        CompletableFuture<?> answer = runtime.call(new RuntimeCall.GetVersion(), Duration.ofSeconds(seconds));

        assertThatThrownBy(() -> answer.get(10, TimeUnit.SECONDS))
                .hasMessageContaining("its deadline is " + Duration.ofSeconds(seconds) + "; expected ");
        assertThat(runtime.underWay()).isZero();
    }

    @Test
    void aContainerIsCreatedWithItsWholeConfiguration() throws Exception {
        cri.answer(
                RuntimeServiceGrpc.getCreateContainerMethod(),
                request -> CreateContainerResponse.newBuilder()
                        .setContainerId("c9")
                        .build());
        ContainerConfig config = new ContainerConfig(
                "app",
                3,
                "sha256:1",
                List.of("run"),
                List.of("-v"),
                "/work",
                Map.of("A", "1"),
                List.of(new ContainerConfig.Mount(
                        "/data", "/host", true, ContainerConfig.Propagation.HOST_TO_CONTAINER)),
                Map.of("l", "1"),
                Map.of("a", "2"),
                "app/3.log",
                ContainerConfig.Terminal.NONE,
                new ContainerConfig.Resources(
                        512, 50_000, 100_000, 1_024, -997, true, "2-3", Map.of("2MB", 4_194_304L)),
                new ContainerConfig.Security(
                        false,
                        SandboxOptions.Namespaces.OWN,
                        OptionalLong.of(7),
                        "",
                        OptionalLong.of(8),
                        List.of(9L),
                        true,
                        true,
                        true,
                        List.of("NET_ADMIN"),
                        List.of("ALL"),
                        SecurityProfile.localhost("/profiles/a.json"),
                        Optional.of(SecurityProfile.localhost("narrow")),
                        Optional.of(new SelinuxLabel("u", "r", "t", "s0:c1")),
                        true),
                List.of(new ContainerConfig.Device("/dev/gpu", "/dev/gpu7", "rw")),
                List.of("vendor.com/gpu=7"));
        SandboxConfig sandbox = new SandboxConfig("u9", "web", "shop", 0, "/logs");

        assertThat(ask(new RuntimeCall.CreateContainer("s9", config, sandbox))).isEqualTo("c9");

        CreateContainerRequest request = (CreateContainerRequest) cri.requests().getFirst();
        assertThat(request.getPodSandboxId()).isEqualTo("s9");
        assertThat(request.getSandboxConfig().getMetadata().getUid()).isEqualTo("u9");
        var sent = request.getConfig();
        assertThat(sent.getMetadata().getName()).isEqualTo("app");
        assertThat(sent.getMetadata().getAttempt()).isEqualTo(3);
        assertThat(sent.getImage().getImage()).isEqualTo("sha256:1");
        assertThat(sent.getCommandList()).containsExactly("run");
        assertThat(sent.getArgsList()).containsExactly("-v");
        assertThat(sent.getWorkingDir()).isEqualTo("/work");
        assertThat(sent.getEnvs(0).getKey() + "=" + sent.getEnvs(0).getValue()).isEqualTo("A=1");
        assertThat(sent.getMounts(0).getHostPath()).isEqualTo("/host");
        assertThat(sent.getMounts(0).getReadonly()).isTrue();
        assertThat(sent.getMounts(0).getPropagationValue()).isEqualTo(1);
        assertThat(sent.getLogPath()).isEqualTo("app/3.log");
        assertThat(sent.getLinux().getResources().getOomScoreAdj()).isEqualTo(-997);
        assertThat(sent.getLinux().getResources().getUnifiedMap()).containsEntry("memory.oom.group", "1");
        assertThat(sent.getLinux().getResources().getCpuQuota()).isEqualTo(50_000);
        assertThat(sent.getLinux().getResources().getCpusetCpus()).isEqualTo("2-3");
        assertThat(sent.getLinux().getResources().getHugepageLimits(0).getPageSize())
                .isEqualTo("2MB");
        assertThat(sent.getLinux().getResources().getHugepageLimits(0).getLimit())
                .isEqualTo(4_194_304);
        assertThat(sent.getDevices(0).getContainerPath()).isEqualTo("/dev/gpu");
        assertThat(sent.getDevices(0).getHostPath()).isEqualTo("/dev/gpu7");
        assertThat(sent.getDevices(0).getPermissions()).isEqualTo("rw");
        assertThat(sent.getCdiDevices(0).getName()).isEqualTo("vendor.com/gpu=7");
        var rights = sent.getLinux().getSecurityContext();
        assertThat(rights.getRunAsUser().getValue()).isEqualTo(7);
        assertThat(rights.getRunAsGroup().getValue()).isEqualTo(8);
        assertThat(rights.getCapabilities().getDropCapabilitiesList()).containsExactly("ALL");
        assertThat(rights.getNoNewPrivs()).isTrue();
        assertThat(rights.getMaskedPathsList()).contains("/proc/kcore");
        assertThat(rights.getSeccomp().getProfileType().name()).isEqualTo("Localhost");
        assertThat(rights.getSeccomp().getLocalhostRef()).isEqualTo("/profiles/a.json");
        assertThat(rights.getApparmor().getLocalhostRef()).isEqualTo("narrow");
        assertThat(rights.getSelinuxOptions().getLevel()).isEqualTo("s0:c1");
        assertThat(rights.getSupplementalGroupsPolicy().name()).isEqualTo("Strict");
    }

    @Test
    void aContainerIsMovedToOtherProcessorsAndKeepsItsOtherLimits() throws Exception {
        cri.answer(
                RuntimeServiceGrpc.getUpdateContainerResourcesMethod(),
                request -> UpdateContainerResourcesResponse.getDefaultInstance());

        ask(new RuntimeCall.PinContainer("c9", "0,4"));

        assertThat(cri.requests().getFirst())
                .isEqualTo(UpdateContainerResourcesRequest.newBuilder()
                        .setContainerId("c9")
                        .setLinux(LinuxContainerResources.newBuilder().setCpusetCpus("0,4"))
                        .build());
    }

    @Test
    void anImageThatTheNodeDoesNotHaveIsNoError() throws Exception {
        cri.answer(ImageServiceGrpc.getImageStatusMethod(), request -> ImageStatusResponse.getDefaultInstance());

        assertThat(ask(new RuntimeCall.GetImage("app:1"))).isEmpty();
    }

    /** An image may have any text as its user, and pods choose their images. */
    @Test
    void anImagesStatusMayHave256KiBAndListsHaveNoUsers() throws Exception {
        AtomicInteger size = new AtomicInteger((256 << 10) - 1024);
        Supplier<io.nodekeeper.cri.v1.Image> image = () -> io.nodekeeper.cri.v1.Image.newBuilder()
                .setId("i1")
                .setUsername("u".repeat(size.get()))
                .build();
        cri.answer(
                        ImageServiceGrpc.getImageStatusMethod(),
                        request -> ImageStatusResponse.newBuilder()
                                .setImage(image.get())
                                .build())
                .answer(
                        ImageServiceGrpc.getListImagesMethod(),
                        request -> ListImagesResponse.newBuilder()
                                .addImages(image.get())
                                .build());

        assertThat(ask(new RuntimeCall.GetImage("app:1")).orElseThrow().userName())
                .hasSize((256 << 10) - 1024);
        size.set(256 << 10);
        assertThat(refused(new RuntimeCall.GetImage("app:1")))
                .hasMessageStartingWith("ImageStatus: TOO_LARGE: gRPC message exceeds maximum size 262144");
        assertThat(ask(new RuntimeCall.ListImages())).containsExactly(new Image("i1", List.of(), List.of(), 0));
    }

    @Test
    void resultsComeOnTheLoop() throws Exception {
        CompletableFuture<String> thread = new CompletableFuture<>();
        cri.hang(RuntimeServiceGrpc.getStatusMethod());

        runtime.call(new RuntimeCall.GetStatus(), SHORT)
                .whenComplete(
                        (value, error) -> thread.complete(Thread.currentThread().getName()));

        assertThat(Until.done(thread)).isEqualTo("loop");
    }

    @Test
    void errorMessageOfTheRuntimeIsPassedOn() throws Exception {
        cri.on(
                RuntimeServiceGrpc.getContainerStatusMethod(),
                (request, reply) -> reply.onError(Status.NOT_FOUND
                        .withDescription("an error occurred when try to find container \"c1\": not found")
                        .asException()));
        cri.on(
                RuntimeServiceGrpc.getStatusMethod(),
                (request, reply) ->
                        reply.onError(Status.UNKNOWN.withDescription("boom").asException()));

        Throwable missing = refused(new RuntimeCall.GetContainer("c1"));
        assertThat(missing)
                .hasMessage(
                        "ContainerStatus: NOT_FOUND: an error occurred when try to find container \"c1\": not found");
        assertThat(((RuntimeCallException) missing).code()).isEqualTo(RuntimeCallException.Code.NOT_FOUND);
        assertThat(refused(new RuntimeCall.GetStatus())).hasMessage("Status: OTHER: boom");
        assertThat(((RuntimeCallException) refused(new RuntimeCall.ListImages())).code())
                .isEqualTo(RuntimeCallException.Code.UNIMPLEMENTED);
    }

    @Test
    void missingSocketFailsImmediatelyAndIsNamed() throws Exception {
        cri.close();
        long start = System.nanoTime();

        Throwable missing = refused(new RuntimeCall.GetVersion());

        // Half of the call's deadline, so that a busy machine does not matter.
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
        assertThat(missing).hasMessage("Version: UNAVAILABLE: runtime at " + socket + ": No such file or directory");
    }

    @Test
    void deadSocketFailsImmediatelyAndIsNamed() throws Exception {
        cri.kill();

        assertThat(refused(new RuntimeCall.GetVersion()))
                .hasMessage("Version: UNAVAILABLE: runtime at " + socket + ": Connection refused");
    }

    @Test
    void deadlineEndsTheCallAndTheRuntimeKnowsIt() throws Exception {
        AtomicReference<Long> left = new AtomicReference<>();
        // The connection stands, so that the call arrives at once.
        ask(new RuntimeCall.GetVersion());
        cri.on(
                RuntimeServiceGrpc.getStatusMethod(),
                (request, reply) -> left.set(
                        Context.current().getDeadline().timeRemaining(java.util.concurrent.TimeUnit.MILLISECONDS)));

        Throwable late = Until.failed(runtime.call(new RuntimeCall.GetStatus(), Duration.ofSeconds(3)));

        assertThat(late).isInstanceOf(DeadlineExceededException.class).hasMessage("Status did not answer within 3s");
        assertThat(left.get()).isBetween(1L, 3_000L);
        Until.holds("the call is released", () -> runtime.underWay() == 0);
    }

    @Test
    void cancelledCallIsCancelledAtTheRuntime() throws Exception {
        cri.hang(RuntimeServiceGrpc.getStatusMethod());
        CompletableFuture<RuntimeStatus> call = runtime.call(new RuntimeCall.GetStatus(), LONG);
        Until.holds("the call arrived", () -> cri.requests().size() == 1);

        call.cancel(true);

        Until.holds("the runtime saw it", () -> cri.cancelled() == 1);
        Until.holds("the call is released", () -> runtime.underWay() == 0);
    }

    @Test
    void worksAgainWithinASecondAfterTheRuntimeRestarts() throws Exception {
        ask(new RuntimeCall.GetVersion());
        cri.kill();
        assertThat(refused(new RuntimeCall.GetVersion())).hasMessageContaining("UNAVAILABLE");
        for (int i = 0; i < 20; i++) {
            refused(new RuntimeCall.GetVersion());
            Thread.sleep(50);
        }
        cri.restart();
        Thread.sleep(Connections.GAP.toMillis());

        assertThat(ask(new RuntimeCall.GetVersion()).name()).isEqualTo("containerd");
    }

    @Test
    void restartBetweenTwoCallsIsNotNoticed() throws Exception {
        ask(new RuntimeCall.GetVersion());
        cri.kill();
        cri.restart();
        // Until the client has learned that its connection was closed.
        Thread.sleep(1_000);

        assertThat(ask(new RuntimeCall.GetVersion()).name()).isEqualTo("containerd");
    }

    @Test
    void messagesMayHave16MiBAndNoMore() throws Exception {
        AtomicInteger size = new AtomicInteger((16 << 20) - 1024);
        cri.answer(
                ImageServiceGrpc.getListImagesMethod(),
                request -> ListImagesResponse.newBuilder()
                        .addImages(io.nodekeeper.cri.v1.Image.newBuilder().setId("x".repeat(size.get())))
                        .build());

        assertThat(ask(new RuntimeCall.ListImages()).get(0).id()).hasSize((16 << 20) - 1024);
        size.set(16 << 20);
        assertThat(refused(new RuntimeCall.ListImages()))
                .hasMessageStartingWith("ListImages: TOO_LARGE: gRPC message exceeds maximum size 16777216");
        assertThat(ask(new RuntimeCall.GetVersion()).name()).isEqualTo("containerd");
    }

    @Test
    void tooManyCallsAreRefusedImmediately() throws Exception {
        cri.hang(RuntimeServiceGrpc.getStatusMethod());
        List<CompletableFuture<?>> hung = new ArrayList<>();
        for (int i = 0; i < 2304; i++) {
            hung.add(runtime.call(new RuntimeCall.GetStatus(), LONG));
        }

        assertThat(refused(new RuntimeCall.GetVersion()))
                .hasMessage("Version: NOT_SENT: 2304 calls to the runtime at " + socket + " are in progress already");

        hung.forEach(call -> call.cancel(true));
        Until.holds("the calls are let go", () -> runtime.underWay() == 0);
        assertThat(ask(new RuntimeCall.GetVersion()).name()).isEqualTo("containerd");
    }

    /** Else a thousand containers that end at the same time, or whose shims hang, made the node NotReady. */
    @Test
    void callsAboutPodsLeavePlacesForTheNodesOwn() throws Exception {
        cri.hang(RuntimeServiceGrpc.getStopContainerMethod()).hang(RuntimeServiceGrpc.getContainerStatusMethod());
        List<CompletableFuture<?>> hung = new ArrayList<>();
        RuntimeCall.StopContainer stop = new RuntimeCall.StopContainer("c1", LONG);
        for (int i = 0; i < 2048; i++) {
            hung.add(runtime.call(stop, LONG));
        }
        assertThat(refused(stop))
                .hasMessage(
                        "StopContainer: NOT_SENT: 2048 calls to the runtime at " + socket + " are in progress already");

        RuntimeCall.GetContainer status = new RuntimeCall.GetContainer("c1");
        for (int i = 0; i < 192; i++) {
            hung.add(runtime.call(status, LONG));
        }
        assertThat(refused(status))
                .hasMessage("ContainerStatus: NOT_SENT: 2240 calls to the runtime at " + socket
                        + " are in progress already");

        assertThat(ask(new RuntimeCall.GetVersion()).name()).isEqualTo("containerd");
        hung.forEach(call -> call.cancel(true));
    }

    @Test
    void eventsOfTheInterfaceArrive() throws Exception {
        cri.on(RuntimeServiceGrpc.getGetContainerEventsMethod(), (request, reply) -> {
            for (ContainerEventType type : List.of(
                    ContainerEventType.CONTAINER_CREATED_EVENT,
                    ContainerEventType.CONTAINER_STARTED_EVENT,
                    ContainerEventType.CONTAINER_STOPPED_EVENT,
                    ContainerEventType.CONTAINER_DELETED_EVENT)) {
                reply.onNext(ContainerEventResponse.newBuilder()
                        .setContainerId("c1")
                        .setContainerEventType(type)
                        .setPodSandboxStatus(io.nodekeeper.cri.v1.PodSandboxStatus.newBuilder()
                                .setMetadata(pod()))
                        .build());
            }
            reply.onCompleted();
        });
        List<ContainerEvent> events = new CopyOnWriteArrayList<>();

        Until.done(runtime.events(events::add));

        assertThat(events)
                .containsExactly(
                        new ContainerEvent("c1", "u1", ContainerEvent.Type.CREATED),
                        new ContainerEvent("c1", "u1", ContainerEvent.Type.STARTED),
                        new ContainerEvent("c1", "u1", ContainerEvent.Type.STOPPED),
                        new ContainerEvent("c1", "u1", ContainerEvent.Type.DELETED));
    }

    private static Envelope task(String topic, String id, String process) {
        ByteString event =
                TaskExit.newBuilder().setContainerId(id).setId(process).build().toByteString();
        return Envelope.newBuilder()
                .setNamespace("k8s.io")
                .setTopic(topic)
                .setEvent(TypedEvent.newBuilder().setValue(event))
                .build();
    }

    @Test
    void containerdsOwnEventsAreUsedInstead() throws Exception {
        cri.on(EventsGrpc.getSubscribeMethod(), (request, reply) -> {
            reply.onNext(task("/tasks/create", "c1", ""));
            reply.onNext(task("/tasks/start", "c1", ""));
            reply.onNext(task("/tasks/oom", "c1", ""));
            reply.onNext(task("/tasks/exit", "c1", "exec-of-a-probe"));
            reply.onNext(task("/tasks/exit", "c1", "c1"));
            reply.onNext(task("/tasks/delete", "c1", ""));
        });
        List<ContainerEvent> events = new CopyOnWriteArrayList<>();

        CompletableFuture<Void> stream = runtime.events(events::add);

        Until.holds("the last event came", () -> events.size() == 4);
        assertThat(events)
                .containsExactly(
                        new ContainerEvent("c1", "", ContainerEvent.Type.CREATED),
                        new ContainerEvent("c1", "", ContainerEvent.Type.STARTED),
                        new ContainerEvent("c1", "", ContainerEvent.Type.STOPPED),
                        new ContainerEvent("c1", "", ContainerEvent.Type.DELETED));
        assertThat(((SubscribeRequest) cri.requests().get(0)).getFiltersList())
                .containsExactly("namespace==k8s.io,topic~=\"^/tasks/\"");

        stream.cancel(true);
        Until.holds("the runtime saw the end", () -> cri.cancelled() == 1);
    }

    @Test
    void runtimeWithoutAnyEventsSaysSo() throws Exception {
        Throwable error = Until.failed(runtime.events(event -> {}));

        assertThat(((RuntimeCallException) error).code()).isEqualTo(RuntimeCallException.Code.UNIMPLEMENTED);
    }

    @Test
    void streamEndsWithTheRuntime() throws Exception {
        cri.hang(RuntimeServiceGrpc.getGetContainerEventsMethod());
        CompletableFuture<Void> stream = runtime.events(event -> {});
        Until.holds("it is open", () -> cri.requests().size() == 1);

        cri.kill();

        assertThat(((RuntimeCallException) Until.failed(stream)).code())
                .isEqualTo(RuntimeCallException.Code.UNAVAILABLE);
    }

    @Test
    void closedClientFailsEverythingAndStaysClosed() throws Exception {
        cri.hang(RuntimeServiceGrpc.getStatusMethod());
        CompletableFuture<RuntimeStatus> hung = runtime.call(new RuntimeCall.GetStatus(), LONG);
        Until.holds("it is under way", () -> cri.requests().size() == 1);

        runtime.close();

        assertThat(Until.failed(hung)).hasMessageEndingWith("the client is closed");
        assertThat(refused(new RuntimeCall.GetVersion()))
                .hasMessage("Version: UNAVAILABLE: runtime at " + socket + ": the client is closed");
    }
}
