package io.nodekeeper.cri.docker;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerEvent;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.ContainerUsage;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.ImageFilesystem;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.PodSandboxStatus;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.cri.RuntimeCondition;
import io.nodekeeper.cri.RuntimeStatus;
import io.nodekeeper.cri.RuntimeVersion;
import io.nodekeeper.cri.Until;
import io.nodekeeper.cri.config.SandboxConfig;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each call against a server on a real socket with answers of Docker 20.10, in real time. */
class DockerRuntimeTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final String ALL = list("{\"label\":[\"io.kubernetes.docker.type\"]}");
    private static final String EVENTS = "/v1.41/events?filters="
            + encoded("{\"label\":[\"io.kubernetes.docker.type\"],\"type\":[\"container\"],"
                    + "\"event\":[\"create\",\"start\",\"die\",\"destroy\"]}");
    private static final String POD_LABELS =
            "\"io.kubernetes.pod.name\":\"web\",\"io.kubernetes.pod.namespace\":\"shop\",\"io.kubernetes.pod.uid\":\"u-1\"";
    private static final String LIST = """
            [{"Id":"c1","Names":["/k8s_main_web_shop_u-1_3"],"Image":"busybox:1","ImageID":"sha256:aa","Created":1795579390,
              "Labels":{"io.kubernetes.docker.type":"container","io.kubernetes.container.name":"main",
                        "io.kubernetes.sandbox.id":"s1",%1$s},"State":"running","Status":"Up 2 seconds"},
             {"Id":"s1","Names":["/k8s_POD_web_shop_u-1_2"],"Image":"pause","Created":1795579388,
              "Labels":{"io.kubernetes.docker.type":"podsandbox","io.kubernetes.container.name":"POD",%1$s},
              "State":"running"},
             {"Id":"x1","Names":["/something"],"Created":1,"Labels":{"io.kubernetes.docker.type":"other"},"State":"running"}]
            """.formatted(POD_LABELS);
    private static final PodSandbox SANDBOX =
            new PodSandbox("s1", "u-1", "web", "shop", 2, true, 1_795_579_388_000_000_000L);

    @TempDir
    Path dir;

    private ThreadLoop loop;
    private FakeDocker docker;
    private DockerRuntime runtime;

    @BeforeEach
    void start() throws IOException {
        loop = new ThreadLoop("loop");
        docker = new FakeDocker(dir.resolve("docker.sock"));
        runtime = new DockerRuntime(dir.resolve("docker.sock"), loop);
    }

    @AfterEach
    void stop() throws IOException {
        runtime.close();
        docker.close();
        loop.close();
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String list(String filters) {
        return "/v1.41/containers/json?all=1&filters=" + encoded(filters);
    }

    private <T> T ask(RuntimeCall<T> call) throws Exception {
        return Until.done(runtime.call(call, LONG));
    }

    private Throwable refused(RuntimeCall<?> call) throws Exception {
        return Until.failed(runtime.call(call, LONG));
    }

    @Test
    void versionComesFromThePingThatCostsTheDaemonNothing() throws Exception {
        assertThat(ask(new RuntimeCall.GetVersion()))
                .isEqualTo(new RuntimeVersion("docker", "20.10.24+dfsg1", "1.41.0"));
        assertThat(docker.requests()).containsExactly("/_ping");
    }

    @Test
    void versionComesFromAnotherPageIfThePingDoesNotNameIt() throws Exception {
        docker.raw("/_ping", "HTTP/1.1 200 OK\r\nApi-Version: 1.40\r\nContent-Length: 2\r\n\r\nOK");
        docker.json("/v1.40/version", "{\"Version\":\"19.03.5\"}");

        assertThat(ask(new RuntimeCall.GetVersion())).isEqualTo(new RuntimeVersion("docker", "19.03.5", "1.40.0"));
    }

    @Test
    void theSmallerVersionOfTheApiIsUsedAndAskedForOnce() throws Exception {
        docker.raw("/_ping", FakeDocker.PING.replace("1.41", "1.47"));
        docker.json("/v1.41/images/json", "[]");

        ask(new RuntimeCall.ListImages());
        ask(new RuntimeCall.ListImages());

        assertThat(docker.requests()).containsExactly("/_ping", "/v1.41/images/json", "/v1.41/images/json");
    }

    @Test
    void aDaemonThatIsTooOldIsRefusedWithItsVersion() throws Exception {
        docker.raw("/_ping", FakeDocker.PING.replace("1.41", "1.23"));

        assertThat(refused(new RuntimeCall.ListImages()))
                .hasMessage("ListImages: UNREADABLE: version 1.24 or newer of Docker's API was expected at /_ping,"
                        + " got \"1.23\" with status 200");
    }

    @Test
    void anotherDaemonIsAskedForItsVersionAfterAFailure() throws Exception {
        docker.json("/v1.41/images/json", "[]");
        ask(new RuntimeCall.ListImages());
        docker.raw("/_ping", FakeDocker.PING.replace("1.41", "1.40"));
        docker.error(
                "/v1.41/images/json", 400, "client version 1.41 is too new. Maximum supported API version is 1.40");
        docker.json("/v1.40/images/json", "[]");

        assertThat(refused(new RuntimeCall.ListImages())).hasMessageContaining("client version 1.41 is too new");
        assertThat(ask(new RuntimeCall.ListImages())).isEmpty();
    }

    @Test
    void aDaemonThatAnswersIsReadyAndSaysNothingAboutNetworks() throws Exception {
        docker.json(
                "/v1.41/info", "{\"ID\":\"IF2K\",\"ContainerdCommit\":{\"ID\":\"1.6.20\",\"Expected\":\"1.6.20\"}}");

        assertThat(ask(new RuntimeCall.GetStatus()))
                .isEqualTo(new RuntimeStatus(
                        List.of(
                                new RuntimeCondition("RuntimeReady", true, "", ""),
                                new RuntimeCondition("NetworkReady", true, "", "")),
                        List.of(),
                        Optional.empty()));
    }

    @Test
    void aDaemonWithoutContainerdIsNotReady() throws Exception {
        docker.json("/v1.41/info", "{\"ID\":\"IF2K\",\"ContainerdCommit\":{\"ID\":\"N/A\",\"Expected\":\"N/A\"}}");

        assertThat(ask(new RuntimeCall.GetStatus()).conditions().getFirst())
                .isEqualTo(new RuntimeCondition(
                        "RuntimeReady", false, "ContainerdNotReady", "docker: containerd does not answer dockerd"));
    }

    @Test
    void sandboxesAndContainersThatAreListedTogetherAreOneRequest() throws Exception {
        docker.json(ALL, LIST);

        CompletableFuture<List<PodSandbox>> sandboxes = new CompletableFuture<>();
        CompletableFuture<List<Container>> containers = new CompletableFuture<>();
        loop.execute(() -> {
            runtime.call(new RuntimeCall.ListSandboxes(Optional.empty()), LONG).thenAccept(sandboxes::complete);
            runtime.call(new RuntimeCall.ListContainers(Optional.empty()), LONG).thenAccept(containers::complete);
        });

        assertThat(Until.done(sandboxes)).containsExactly(SANDBOX);
        assertThat(Until.done(containers))
                .containsExactly(new Container(
                        "c1",
                        "s1",
                        "main",
                        "u-1",
                        ContainerState.RUNNING,
                        1_795_579_390_000_000_000L,
                        Set.of("busybox:1", "sha256:aa")));
        assertThat(docker.requests()).containsExactly("/_ping", ALL);
    }

    @Test
    void aListThatIsAskedForAfterAnotherWasSentIsARequestOfItsOwn() throws Exception {
        docker.json(ALL, LIST);

        ask(new RuntimeCall.ListSandboxes(Optional.empty()));
        ask(new RuntimeCall.ListSandboxes(Optional.empty()));

        assertThat(docker.requests()).containsExactly("/_ping", ALL, ALL);
    }

    @Test
    void aSinglePodIsListedByItsLabel() throws Exception {
        docker.json(list("{\"label\":[\"io.kubernetes.docker.type\",\"io.kubernetes.pod.uid=u-1\"]}"), LIST);

        assertThat(ask(new RuntimeCall.ListSandboxes(Optional.of("u-1")))).containsExactly(SANDBOX);
    }

    @Test
    void everyStateOfDockerHasAStateOfKubernetes() throws Exception {
        for (var expected : List.of(
                List.of("created", ContainerState.CREATED),
                List.of("running", ContainerState.RUNNING),
                List.of("paused", ContainerState.RUNNING),
                List.of("exited", ContainerState.EXITED),
                List.of("restarting", ContainerState.UNKNOWN),
                List.of("removing", ContainerState.UNKNOWN),
                List.of("dead", ContainerState.UNKNOWN))) {
            docker.json(
                    ALL,
                    "[{\"Id\":\"c\",\"State\":\"%s\",\"Labels\":{\"io.kubernetes.docker.type\":\"container\"}}]"
                            .formatted(expected.getFirst()));

            assertThat(ask(new RuntimeCall.ListContainers(Optional.empty()))
                            .getFirst()
                            .state())
                    .isEqualTo(expected.getLast());
        }
    }

    private static String inspected(String name, String type, String state) {
        return """
                {"Id":"c1c1","Created":"2026-11-25T04:03:10.5Z","Path":"/bin/sh","Name":"/%s","Image":"sha256:aa",
                 "State":{%s},
                 "Config":{"Image":"busybox:1","Labels":{"io.kubernetes.docker.type":"%s",
                   "io.kubernetes.container.name":"main","annotation.a.b/c":"d",%s}},
                 "NetworkSettings":{"IPAddress":"172.17.0.2","GlobalIPv6Address":"",
                   "Networks":{"bridge":{"IPAddress":"172.17.0.2","GlobalIPv6Address":"fd00::2"}}}}
                """.formatted(name, state, type, POD_LABELS);
    }

    @Test
    void aRunningContainersStatusIsThatOfItsInspection() throws Exception {
        docker.json("/v1.41/containers/c1c1/json", inspected("k8s_main_web_shop_u-1_3", "container", """
                        "Status":"running","Running":true,"ExitCode":0,"StartedAt":"2026-11-25T04:03:11.000000001Z",
                        "FinishedAt":"2026-11-25T04:00:00Z"
                        """));

        assertThat(ask(new RuntimeCall.GetContainer("c1c1")))
                .isEqualTo(new ContainerStatus(
                        "c1c1",
                        "main",
                        ContainerState.RUNNING,
                        1_795_579_391_000_000_001L,
                        0,
                        0,
                        "",
                        "",
                        new ContainerStatus.Origin(
                                3, 1_795_579_390_500_000_000L, "busybox:1", "sha256:aa", Map.of("a.b/c", "d"))));
    }

    @Test
    void anEndedContainersReasonIsDockershims() throws Exception {
        String times = "\"StartedAt\":\"2026-11-25T04:03:11Z\",\"FinishedAt\":\"2026-11-25T04:03:12Z\"";
        String never = "\"StartedAt\":\"0001-01-01T00:00:00Z\",\"FinishedAt\":\"0001-01-01T00:00:00Z\"";
        for (var expected : List.of(
                List.of("\"ExitCode\":0," + times, "EXITED Completed"),
                List.of("\"ExitCode\":2," + times, "EXITED Error"),
                List.of("\"ExitCode\":137,\"OOMKilled\":true," + times, "EXITED OOMKilled"),
                List.of("\"ExitCode\":127,\"Error\":\"no such file\"," + never, "EXITED ContainerCannotRun"),
                List.of("\"ExitCode\":0," + never, "CREATED "))) {
            docker.json("/v1.41/containers/c1/json", inspected("k8s_a_b_c_d_0", "container", expected.getFirst()));

            ContainerStatus status = ask(new RuntimeCall.GetContainer("c1"));

            assertThat(status.state() + " " + status.reason()).isEqualTo(expected.getLast());
        }
    }

    @Test
    void aSandboxHasTheAddressesOfDockersNetworks() throws Exception {
        docker.json(
                "/v1.41/containers/c1c1/json", inspected("k8s_POD_web_shop_u-1_2", "podsandbox", "\"Running\":true"));

        assertThat(ask(new RuntimeCall.GetSandbox("c1c1")))
                .isEqualTo(new PodSandboxStatus(
                        new PodSandbox("c1c1", "u-1", "web", "shop", 2, true, 1_795_579_390_500_000_000L),
                        List.of("172.17.0.2", "fd00::2")));
    }

    @Test
    void aSandboxThatEndedHasNoAddress() throws Exception {
        docker.json(
                "/v1.41/containers/c1c1/json", inspected("k8s_POD_web_shop_u-1_2", "podsandbox", "\"Running\":false"));

        assertThat(ask(new RuntimeCall.GetSandbox("c1c1")).ips()).isEmpty();
    }

    @Test
    void anUnknownContainerIsNotFound() throws Exception {
        docker.error("/v1.41/containers/gone/json", 404, "No such container: gone");

        assertThat(refused(new RuntimeCall.GetContainer("gone")))
                .hasMessage("ContainerStatus: NOT_FOUND: Docker answered with status 404: No such container: gone")
                .extracting(error -> ((RuntimeCallException) error).code())
                .isEqualTo(RuntimeCallException.Code.NOT_FOUND);
    }

    @Test
    void statisticsAreAnInspectionThatMeasuresNothing() throws Exception {
        docker.json("/v1.41/containers/c1c1/json", inspected("k8s_a_b_c_d_0", "container", "\"Running\":true"));

        assertThat(ask(new RuntimeCall.GetContainerStats("c1c1"))).isEqualTo(new ContainerUsage("c1c1", 0, 0, 0, 0));
        assertThat(docker.requests()).containsExactly("/_ping", "/v1.41/containers/c1c1/json");
    }

    @Test
    void imagesHaveTheirNamesAndSizes() throws Exception {
        docker.json("/v1.41/images/json", """
                [{"Id":"sha256:aa","RepoTags":["busybox:1"],"RepoDigests":["<none>@<none>"],"Size":1000},
                 {"Id":"sha256:bb","RepoTags":null,"RepoDigests":["b@sha256:0"],"Size":24}]
                """);
        docker.json("/v1.41/info", "{\"DockerRootDir\":\"/var/lib/docker\"}");

        assertThat(ask(new RuntimeCall.ListImages()))
                .containsExactly(
                        new Image("sha256:aa", List.of(), List.of("busybox:1"), 1000),
                        new Image("sha256:bb", List.of("b@sha256:0"), List.of(), 24));
        assertThat(ask(new RuntimeCall.GetImageFilesystems()))
                .containsExactly(new ImageFilesystem("/var/lib/docker", 1024, 0));
    }

    @Test
    void anImageIsFoundByItsNameOrNot() throws Exception {
        docker.json(
                "/v1.41/images/a.example/b%3A1/json",
                "{\"Id\":\"sha256:aa\",\"RepoTags\":[\"a.example/b:1\"],\"Size\":3,\"Config\":{\"User\":\"1000:7\"}}");

        assertThat(ask(new RuntimeCall.GetImage("a.example/b:1")))
                .contains(new Image("sha256:aa", List.of(), List.of("a.example/b:1"), 3, OptionalLong.of(1000), ""));
        assertThat(ask(new RuntimeCall.GetImage("missing"))).isEmpty();
    }

    @Test
    void aSandboxIsRemovedWithItsContainers() throws Exception {
        docker.json(list("{\"label\":[\"io.kubernetes.sandbox.id=s1\"]}"), LIST);
        docker.raw("DELETE /v1.41/containers/c1?force=1&v=1", "HTTP/1.1 204 No Content\r\n\r\n");
        docker.error("DELETE /v1.41/containers/s1?force=1&v=1", 404, "No such container: s1");

        assertThat(ask(new RuntimeCall.RemoveSandbox("s1"))).isEqualTo(RuntimeCall.Done.DONE);
        assertThat(docker.requests().subList(2, 4))
                .containsExactly("DELETE /v1.41/containers/c1?force=1&v=1", "DELETE /v1.41/containers/s1?force=1&v=1");
    }

    @Test
    void aRemovalThatFailsHasDockersWords() throws Exception {
        docker.json(list("{\"label\":[\"io.kubernetes.sandbox.id=s1\"]}"), "[]");
        docker.error("DELETE /v1.41/containers/s1?force=1&v=1", 409, "removal is in progress already");

        assertThat(refused(new RuntimeCall.RemoveSandbox("s1")))
                .hasMessage("RemovePodSandbox: OTHER: Docker answered with status 409: removal is in progress already");
    }

    @Test
    void whatWouldChangePodsIsRefusedByName() throws Exception {
        assertThat(refused(new RuntimeCall.RunSandbox(new SandboxConfig("u", "web", "shop", 0, "/logs"))))
                .hasMessage("RunPodSandbox: UNIMPLEMENTED: not supported on Docker Engine: the agent only watches its"
                        + " pods; to run pods, use a runtime with CRI, such as containerd");
        assertThat(refused(new RuntimeCall.StopContainer("c1", Duration.ZERO))).hasMessageContaining("UNIMPLEMENTED");
        assertThat(docker.requests()).isEmpty();
    }

    @Test
    void eventsAboutPodsArriveInTheirOrder() throws Exception {
        docker.raw(EVENTS, FakeDocker.chunked(200, """
                        {"Type":"container","Action":"create","Actor":{"ID":"c1","Attributes":{"io.kubernetes.pod.uid":"u-1"}}}
                        {"Type":"container","Action":"start","Actor":{"ID":"c1","Attributes":{}}}
                        this is no JSON
                        {"Type":"container","Action":"exec_die","Actor":{"ID":"c1"}}
                        {"Type":"container","Action":"die","Actor":{"ID":"c1"}}
                        {"Type":"container","Action":"destroy","Actor":{"ID":"c1"}}
                        """));
        List<ContainerEvent> events = new CopyOnWriteArrayList<>();

        Until.done(runtime.events(events::add));

        assertThat(events)
                .containsExactly(
                        new ContainerEvent("c1", "u-1", ContainerEvent.Type.CREATED),
                        new ContainerEvent("c1", "", ContainerEvent.Type.STARTED),
                        new ContainerEvent("c1", "", ContainerEvent.Type.STOPPED),
                        new ContainerEvent("c1", "", ContainerEvent.Type.DELETED));
    }

    @Test
    void aCancelledSubscriptionClosesItsConnection() throws Exception {
        docker.hang(EVENTS);
        CompletableFuture<Void> stream = runtime.events(event -> {});
        Until.holds("the stream is open", () -> docker.requests().contains(EVENTS));

        stream.cancel(true);

        Until.holds("no connection is left", () -> docker.connections() == 0 && runtime.underWay() == 0);
    }
}
