package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** The volumes of pods that an agent runs on a real containerd, as containers and the node see them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("long")
class PodVolumesIT {
    private static final Duration SOON = Duration.ofSeconds(30);
    /** More than the agent has threads for its own files. */
    private static final int HUNG = 6;

    /** Shows again and again what the container sees. */
    private static final String SHOW = """
            [/bin/sh, -c, "echo part > /part/file; while true; do for f in /settings/colour /settings/deep/size /keys/key
            /pod/colour /one $TOKEN/namespace; do echo $f=$(cat $f); done > /out/new; /bin/busybox mv /out/new /out/seen;
            sleep 0.2; done"]""".replace("\n", " ");

    @TempDir
    static Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private PodLog pods;
    private RealNode node;

    @BeforeAll
    void start() throws Exception {
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        pods = cluster.pods();
        node = cluster.addNode();
        cluster.startAgent("");
    }

    @Test
    @Order(1)
    void aPodWaitsForTheConfigMapThatAnEventNames() throws Exception {
        kubectl.ok("create", "secret", "generic", "keys", "--from-literal=key=open sesame");
        kubectl.apply("""
                apiVersion: v1
                kind: Pod
                metadata: {name: web, labels: {colour: blue}}
                spec:
                  nodeName: %s
                  terminationGracePeriodSeconds: 1
                  securityContext: {fsGroup: 2000}
                  containers:
                  - name: main
                    image: %s
                    command: %s
                    env:
                    - {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
                    - {name: TOKEN, value: /var/run/secrets/kubernetes.io/serviceaccount}
                    volumeMounts:
                    - {name: settings, mountPath: /settings}
                    - {name: keys, mountPath: /keys}
                    - {name: pod, mountPath: /pod}
                    - {name: out, mountPath: /out}
                    - {name: settings, mountPath: /one, subPath: colour}
                    - {name: out, mountPath: /part, subPathExpr: of/$(NAME)}
                  volumes:
                  - name: settings
                    configMap: {name: settings, items: [{key: colour, path: colour}, {key: size, path: deep/size}]}
                  - {name: keys, secret: {secretName: keys, defaultMode: 0400}}
                  - name: pod
                    downwardAPI: {items: [{path: colour, fieldRef: {fieldPath: "metadata.labels['colour']"}}]}
                  - {name: out, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
                """.formatted(NODE, BusyboxImages.BUSYBOX, SHOW));

        Eventually.within(
                SOON,
                () -> kubectl.ok("get", "events")
                        .contains(
                                "MountVolume.SetUp failed for volume \"settings\" : configmap \"settings\" not found"));
        assertThat(pods.waited("web")).contains("ContainerCreating");

        kubectl.ok("create", "configmap", "settings", "--from-literal=colour=red", "--from-literal=size=7");
        cluster.awaitReady(SOON, "web");
    }

    @Test
    @Order(2)
    void containersSeeTheirVolumes() throws Exception {
        Eventually.within(SOON, () -> !seen().isEmpty());

        assertThat(seen()).isEqualTo("""
                /settings/colour=red
                /settings/deep/size=7
                /keys/key=open sesame
                /pod/colour=blue
                /one=red
                /var/run/secrets/kubernetes.io/serviceaccount/namespace=default
                """);
        assertThat(volume("empty-dir", "out").resolve("of/web/file")).hasContent("part");
        assertThat(Files.getFileStore(volume("empty-dir", "out")).getTotalSpace())
                .isEqualTo(1 << 20);
    }

    @Test
    @Order(3)
    void secretsAreInMemoryAndForThePodsGroupOnly() throws Exception {
        Path key = volume("secret", "keys").resolve("key").toRealPath();

        assertThat(Files.getFileStore(key).type()).isEqualTo("tmpfs");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(key)))
                .isEqualTo("r--r-----");
        assertThat(Files.getAttribute(key, "unix:gid")).isEqualTo(2000);
        Path token = token();
        assertThat(Files.getFileStore(token).type()).isEqualTo("tmpfs");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(token)))
                .isEqualTo("rw-r-----");
        assertThat(token.resolveSibling("ca.crt")).content().contains("BEGIN CERTIFICATE");
    }

    @Test
    @Order(4)
    void theTokenIsThatOfThePodAndIsInNoLog() throws Exception {
        String token = Files.readString(token());
        JsonObject claims = Json.parseObject(
                new String(Base64.getUrlDecoder().decode(token.split("\\.")[1]), StandardCharsets.UTF_8));

        assertThat(claims.text("sub")).isEqualTo("system:serviceaccount:default:default");
        assertThat(claims.object("kubernetes.io").object("pod").text("name")).isEqualTo("web");
        String review = """
                {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "%s"}}
                """.formatted(token);
        assertThat(kubectl.okWith(review, "create", "--validate=false", "-o", "jsonpath={.status.user.username}", "-f"))
                .isEqualTo("system:serviceaccount:default:default");
        assertThat(node.agent().log()).doesNotContain(token).doesNotContain("open sesame");
    }

    @Test
    @Order(5)
    void changesReachARunningContainerExceptByPartsOfVolumes() throws Exception {
        kubectl.ok("patch", "configmap", "settings", "--type=merge", "-p", "{\"data\": {\"colour\": \"green\"}}");
        kubectl.ok("patch", "secret", "keys", "--type=merge", "-p", "{\"stringData\": {\"key\": \"close\"}}");
        kubectl.ok("label", "pod", "web", "colour=yellow", "--overwrite");

        Eventually.within(
                SOON,
                () -> seen().contains("/pod/colour=yellow")
                        && seen().contains("/settings/colour=green")
                        && seen().contains("/keys/key=close"));
        assertThat(seen()).contains("/one=red");
    }

    @Test
    @Order(6)
    void anAgentThatIsKilledFindsTheVolumesAgainAndUpdatesThem() throws Exception {
        String container = pods.container("web").text("containerID");
        String token = Files.readString(token());
        node.agent().kill();
        kubectl.ok("patch", "configmap", "settings", "--type=merge", "-p", "{\"data\": {\"colour\": \"black\"}}");
        cluster.startAgentAgain();

        Eventually.within(SOON, () -> seen().contains("/settings/colour=black"));
        assertThat(pods.container("web").text("containerID")).isEqualTo(container);
        // A token is not kept on disk, so the new agent requests another one.
        Eventually.within(SOON, () -> !Files.readString(token()).equals(token));
    }

    @Test
    @Order(7)
    void aPathThatLeadsOutOfItsVolumeIsRefused() throws Exception {
        Path host = Files.createDirectory(directory.resolve("host"));
        Path outside = Files.createDirectory(directory.resolve("outside"));
        Files.createSymbolicLink(host.resolve("link"), outside);
        kubectl.apply(small("escape", "{hostPath: {path: %s}, name: data}".formatted(host), ", subPath: link/new"));

        Eventually.within(SOON, () -> pods.waited("escape").contains("CreateContainerConfigError"));
        assertThat(pods.container("escape").object("state").object("waiting").text("message"))
                .isEqualTo(
                        "failed to prepare subPath for volumeMount \"data\" of container \"main\": path link/new leads"
                                + " out of the volume " + host);
        assertThat(outside).isEmptyDirectory();
        kubectl.ok("delete", "pod", "escape", "--timeout=60s");
    }

    @Test
    @Order(8)
    void pathsOfTheHostThatHangDelayOnlyTheirOwnPods() throws Exception {
        List<String> names = IntStream.range(0, HUNG).mapToObj(i -> "hung-" + i).toList();
        try (LoopDisk disk = LoopDisk.mount(directory.resolve("disk.img"), directory.resolve("disk"))) {
            disk.freeze();
            kubectl.apply(names.stream()
                    .map(name -> small(
                            name,
                            "{hostPath: {path: %s, type: DirectoryOrCreate}, name: data}"
                                    .formatted(disk.mountPoint().resolve(name)),
                            ""))
                    .toArray(String[]::new));
            Eventually.within(
                    SOON,
                    () -> names.stream().allMatch(name -> pods.waited(name).contains("ContainerCreating")));
            Path well = directory.resolve("well");

            kubectl.apply(
                    small("beside", "{hostPath: {path: %s, type: DirectoryOrCreate}, name: data}".formatted(well), ""));

            // The disk is frozen for as long as this takes.
            cluster.awaitReady(Duration.ofSeconds(60), "beside");
            kubectl.ok("label", "pod", "web", "colour=white", "--overwrite");
            Eventually.within(Duration.ofSeconds(60), () -> seen().contains("/pod/colour=white"));
            assertThat(names).noneMatch(pods::isReady);

            disk.thaw();
            Eventually.within(SOON, () -> names.stream().allMatch(pods::isReady));
            kubectl.ok("delete", "pods", "--all", "--timeout=60s");
        }
    }

    @Test
    @Order(9)
    void deletedPodsLeaveNoFileAndNoMount() throws Exception {
        Path agent = node.directory().resolve("agent");
        assertThat(kubectl.ok("get", "pods", "-o", "name")).isEmpty();

        assertThat(Leftovers.children(agent.resolve("pods"))).isEmpty();
        assertThat(Files.readString(Path.of("/proc/self/mountinfo"))).doesNotContain(agent + "/pods");
        assertThat(directory.resolve("well")).isDirectory();
        assertThat(directory.resolve("host/link")).isSymbolicLink();
    }

    private static String small(String name, String volume, String mount) {
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  nodeName: %s
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 1
                  containers:
                  - name: main
                    image: %s
                    command: [/bin/sleep, "1000"]
                    volumeMounts: [{name: data, mountPath: /data%s}]
                  volumes: [%s]
                """.formatted(name, NODE, BusyboxImages.BUSYBOX, mount, volume);
    }

    /** What the container of the first pod wrote last. */
    private String seen() throws IOException {
        Path file = volume("empty-dir", "out").resolve("seen");
        return Files.exists(file) ? Files.readString(file) : "";
    }

    private Path token() throws IOException {
        Path projected = volume("projected", "");
        return Leftovers.children(projected).getFirst().resolve("token").toRealPath();
    }

    private Path volume(String kind, String name) {
        String uid = pods.uid("web");
        return node.directory()
                .resolve("agent/pods/" + uid + "/volumes/kubernetes.io~" + kind)
                .resolve(name);
    }
}
