package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.csi.CsiDriver;
import io.nodekeeper.agent.plugins.FakePlugins;
import io.nodekeeper.agent.pods.cgroups.PodParent;
import io.nodekeeper.agent.pods.containers.NodeSettings;
import io.nodekeeper.agent.pods.containers.Seccomp;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.PodMetrics;
import io.nodekeeper.agent.pods.mounts.FakeMounts;
import io.nodekeeper.agent.pods.objects.ObjectCache;
import io.nodekeeper.agent.pods.persistent.PersistentVolumes;
import io.nodekeeper.agent.pods.persistent.VolumePorts;
import io.nodekeeper.agent.pods.probes.NodeProber;
import io.nodekeeper.agent.pods.probes.ProbeMetrics;
import io.nodekeeper.agent.pods.probes.ProbePorts;
import io.nodekeeper.agent.pods.registry.NodeCredentials;
import io.nodekeeper.agent.pods.turns.StartTurns;
import io.nodekeeper.agent.pods.turns.StopTurns;
import io.nodekeeper.agent.pods.volumes.PodFiles;
import io.nodekeeper.agent.pods.volumes.VolumeRoom;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.plugin.PluginCall;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The volumes of one pod over time: when they are made, updated and removed. */
class PodVolumesTest {
    private static final Pod POD = pod("blue");
    /** Memory for what volumes are made from, bytes. */
    private static final long VOLUMES = 16 << 20;

    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final FakeTransport transport = new FakeTransport();
    private final Map<String, JsonObject> objects = new HashMap<>();
    private final List<String> events = new ArrayList<>();
    private final FakePlugins plugins = new FakePlugins(loop);
    private final FakeMounts mounts = new FakeMounts();
    private final AtOnce disk = new AtOnce();
    private final AtOnce hostDisk = new AtOnce();
    private int issued;
    private Path volumes;
    private PodPorts ports;
    private PodVolumes pod;

    @BeforeEach
    void server() {
        transport.answer(this::serve);
        objects.put("settings", Json.parseObject("{\"data\": {\"a\": \"1\"}}"));
        volumes = directory.resolve("root/pods/u1/volumes");
        KubeClient client = new KubeClient(transport, loop, Duration.ofSeconds(10));
        ObjectCache objectCache = new ObjectCache(client, VOLUMES);
        ports = new PodPorts(
                new FakeRuntime(loop),
                new StartTurns(loop, 4),
                StopTurns.ofNode(),
                Duration.ofMinutes(2),
                client,
                (about, type, reason, message) -> events.add(type + " " + reason + " " + message),
                loop,
                objectCache,
                new PodFiles(directory.resolve("root"), directory.resolve("logs"), mounts),
                disk,
                new HostDisk(hostDisk, 110),
                directory.resolve("resolv.conf"),
                () -> NodeSettings.of(
                        "n1",
                        Optional.empty(),
                        directory.resolve("logs"),
                        List.of(),
                        "",
                        PodParent.NONE,
                        Seccomp.of(directory, false)),
                ProbePorts.of(new NodeProber(new FakeRuntime(loop), loop), loop, Randoms.seeded(2), ProbeMetrics.NONE),
                Optional.empty(),
                NodeResources.NONE,
                persistent(client, objectCache),
                new NodeCredentials(Path.of("/none"), Path.of("/none")),
                PodMetrics.NONE);
        pod = new PodVolumes(ports);
    }

    /** A removal takes minutes if there are millions of files; starts of other pods must not wait for it. */
    @Test
    void shouldRemoveFilesBesideTheThreadsThatAllPodsShare() throws Exception {
        Files.createDirectories(volumes);

        pod.remove(POD);
        tick(1);

        assertThat(directory.resolve("root/pods/u1")).doesNotExist();
        assertThat(disk.done).isEmpty();
        assertThat(hostDisk.done).containsExactly("parts of volumes of shop/web", "directories of shop/web");
    }

    /** A pod may mount thousands of parts of an empty directory, which takes long, too. */
    @Test
    void shouldTouchVolumesOfEachKindBesideTheThreadsThatAllPodsShare() {
        CompletableFuture<String> parts = ports.onVolumes(POD, "parts of volumes of shop/web", () -> "mounted");
        time.advance(Duration.ofMillis(1));

        assertThat(parts).isCompletedWithValue("mounted");
        assertThat(disk.done).isEmpty();
        assertThat(hostDisk.done).containsExactly("parts of volumes of shop/web");
    }

    @Test
    void shouldUnmountTheVolumesOfDriversOnceThePodHasEndedAndAgainUntilThatSucceeds() throws Exception {
        Pod ended = new Pod(Json.parseObject("""
                {"metadata": {"name": "done", "namespace": "shop", "uid": "u2"},
                 "spec": {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]}}"""));
        Path mount = directory.resolve("root/pods/u2/volumes/kubernetes.io~csi/pv1");
        Files.createDirectories(mount);
        Files.writeString(
                mount.resolve("vol_data.json"),
                "{\"driverName\": \"d\", \"volumeHandle\": \"h\", \"specVolID\": \"pv1\"}");
        over(ended, 10);
        assertThat(events)
                .hasSize(1)
                .allMatch(event -> event.startsWith("Warning FailedUnMount UnmountVolume.TearDown"));
        assertThat(mount).exists();

        plugins.answer((socket, call) -> Optional.of(new PluginCall.Done()));
        over(ended, 30);

        assertThat(plugins.calls)
                .hasSize(2)
                .allMatch(("d.sock NodeUnpublishVolume[handle=h, target=" + mount.resolve("mount") + "]")::equals);
        assertThat(directory.resolve("root/pods/u2/volumes")).doesNotExist();
    }

    /** They take disk and memory, for which other pods would be evicted; tokens among them. */
    @Test
    void shouldRemoveTheVolumesOfAPodThatHasEndedAndKeepWhatItsContainersWroteAboutTheirEnds() throws Exception {
        prepare();
        Path message = Files.createDirectories(directory.resolve("root/pods/u1/containers/app"))
                .resolve("0.termination");
        Files.writeString(message, "done");
        Path log = Files.createDirectories(directory.resolve("logs/shop_web_u1/app"))
                .resolve("0.log");
        Files.writeString(log, "line");
        mounts.stuck = true;

        over(POD, 15);
        assertThat(token()).hasContent("token-1");
        assertThat(events)
                .allMatch(event -> event.startsWith("Warning FailedUnMount "))
                .isNotEmpty();
        mounts.stuck = false;
        over(POD, 15);

        assertThat(volumes).doesNotExist();
        assertThat(message).hasContent("done");
        assertThat(log).hasContent("line");
        int calls = hostDisk.done.size();
        over(POD, 60);
        assertThat(hostDisk.done).hasSize(calls);
        // No update makes them again.
        tick(61);
        assertThat(volumes).doesNotExist();
    }

    @Test
    void shouldMakeVolumesAgainOfAPodThatRunsAgain() {
        prepare();
        over(POD, 10);
        assertThat(volumes).doesNotExist();
        assertThat(pod.isOver()).isTrue();

        prepare();

        assertThat(pod.isOver()).isFalse();
        assertThat(settings()).hasContent("1");
        over(POD, 10);
        assertThat(volumes).doesNotExist();
    }

    /** For statistics. */
    @Test
    void shouldFindOutWherePersistentVolumesAreThatAnEarlierAgentMounted() {
        objects.put("c", Json.parseObject("""
                {"metadata": {"name": "c", "namespace": "shop", "uid": "claim"},
                 "spec": {"volumeName": "pv1"}, "status": {"phase": "Bound"}}"""));
        objects.put("pv1", Json.parseObject("""
                {"metadata": {"name": "pv1"}, "spec": {"local": {"path": "/disks/1"},
                 "claimRef": {"namespace": "shop", "name": "c", "uid": "claim"}}}"""));
        Pod runs = new Pod(Json.parseObject("""
                {"metadata": {"name": "db", "namespace": "shop", "uid": "u3"},
                 "spec": {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]}}"""));

        pod.found(runs);
        for (int second = 0; second < 15; second++) {
            pod.tick(runs);
            time.advance(Duration.ofSeconds(1));
        }

        assertThat(pod.paths(runs))
                .containsEntry("data", directory.resolve("root/pods/u3/volumes/kubernetes.io~local-volume/pv1"));
        assertThat(mounts.parts).isEmpty();
        assertThat(events).isEmpty();
    }

    @Test
    void shouldNotTouchAPathOfTheHostBesideACallThatHangsThere() {
        Pod first = hostPod();
        hostDisk.late = "host path /data of type Directory";

        CompletableFuture<Void> made = pod.prepare(first);
        time.advance(Duration.ofMillis(1));

        assertThat(made.exceptionNow()).hasMessageContaining("host path /data of type Directory: no answer within");
        assertThat(hostDisk.done).isEmpty();
    }

    /** Paths that hang may be as many as pods, and what volumes are made from is large. */
    @ParameterizedTest
    @ValueSource(strings = {"host path /data", "volumes of shop/mixed"})
    void shouldHoldNoContentsWhileAPathOfTheHostHangs(String call) {
        hostDisk.hanging = call;
        Pod mixed = new Pod(Json.parseObject("""
                {"metadata": {"name": "mixed", "namespace": "shop", "uid": "u6"}, "spec": {"volumes": [
                  {"name": "data", "hostPath": {"path": "/data", "type": "Directory"}},
                  {"name": "settings", "configMap": {"name": "settings"}}]}}"""));

        CompletableFuture<Void> made = pod.prepare(mixed);
        time.advance(Duration.ofSeconds(1));

        assertThat(made).isNotDone();
        assertThat(directory.resolve("root/pods/u6/volumes/kubernetes.io~configmap/settings/a"))
                .hasContent("1");
        VolumeRoom room = ports.objects().room();
        room.claim().take(VOLUMES / 2);
        room.claim().take(VOLUMES / 2);
    }

    /** The walk over millions of files takes longer than a call may: no attempt would ever be in time. */
    @Test
    void shouldGiveAVolumeToThePodsGroupOnceForEachMountAlsoIfThatTakesLongerThanACallMay() throws Exception {
        // given a volume with a file, and a call that ends after its deadline
        Pod grouped = localPod();
        Path file = mountedFile();
        hostDisk.slow = "volumes of shop/db";
        CompletableFuture<Void> late = pod.prepare(grouped);
        time.advance(Duration.ofMillis(1));
        assertThat(late.exceptionNow()).hasMessageContaining("no answer within PT2M");
        assertThat(permissions(file)).isEqualTo("rw-rw----");

        // when it is tried again
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        hostDisk.slow = "";
        CompletableFuture<Void> again = pod.prepare(grouped);
        time.advance(Duration.ofMillis(1));

        // then no file is touched again
        assertThat(again).isCompleted();
        assertThat(permissions(file)).isEqualTo("rw-------");
        assertThat(pod.paths(grouped)).containsEntry("data", file.resolveSibling(""));

        // but after an unmount the next mount begins with the first file again
        over(grouped, 10);
        Path fresh = mountedFile();
        pod.prepare(grouped);
        time.advance(Duration.ofMillis(1));
        assertThat(permissions(fresh)).isEqualTo("rw-rw----");
    }

    /** A file where the volume of {@link #localPod} is mounted, of its owner alone. */
    private Path mountedFile() throws Exception {
        Path mount = Files.createDirectories(directory.resolve("root/pods/u7/volumes/kubernetes.io~local-volume/pv1"));
        Path file = Files.createFile(mount.resolve("file"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        return file;
    }

    private static String permissions(Path file) throws Exception {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    /** A pod with a group, and a directory of the node as its volume. */
    private Pod localPod() throws Exception {
        Path disk = Files.createDirectories(directory.resolve("disk"));
        objects.put("c", Json.parseObject("""
                {"metadata": {"name": "c", "namespace": "shop", "uid": "claim"},
                 "spec": {"volumeName": "pv1"}, "status": {"phase": "Bound"}}"""));
        objects.put("pv1", Json.parseObject("""
                {"metadata": {"name": "pv1"}, "spec": {"local": {"path": "%s"},
                 "claimRef": {"namespace": "shop", "name": "c", "uid": "claim"}}}""".formatted(disk)));
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "db", "namespace": "shop", "uid": "u7"},
                 "spec": {"securityContext": {"fsGroup": %s},
                  "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]}}""".formatted(Files.getAttribute(directory, "unix:gid"))));
    }

    private static Pod hostPod() {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "host", "namespace": "shop", "uid": "u5"}, "spec": {"volumes": [
                  {"name": "free", "hostPath": {"path": "/free"}},
                  {"name": "data", "hostPath": {"path": "/data", "type": "Directory"}}]}}"""));
    }

    /** The pod has ended for that long. */
    private void over(Pod ended, int seconds) {
        for (int second = 0; second < seconds; second++) {
            pod.over(ended);
            time.advance(Duration.ofSeconds(1));
        }
    }

    private PersistentVolumes persistent(KubeClient client, ObjectCache cache) {
        return new PersistentVolumes(new VolumePorts(
                "n1",
                directory.resolve("root"),
                client,
                cache,
                loop,
                new AtOnce(),
                plugins,
                name -> Optional.of(new CsiDriver(name, Path.of("/d.sock"), Set.of())),
                true,
                () -> {},
                (about, reason, message) -> events.add("Warning " + reason + " " + message)));
    }

    @Test
    void shouldMakeTheVolumesAndUpdateThemOncePerMinute() {
        prepare();
        assertThat(settings()).hasContent("1");

        objects.put("settings", Json.parseObject("{\"data\": {\"a\": \"2\"}}"));
        tick(59);
        assertThat(settings()).hasContent("1");
        tick(2);
        assertThat(settings()).hasContent("2");
        assertThat(events).isEmpty();
    }

    @Test
    void shouldUpdateAtOnceWhenLabelsOrAnnotationsChange() {
        prepare();
        tick(5);
        objects.put("settings", Json.parseObject("{\"data\": {\"a\": \"2\"}}"));

        pod.tick(pod("green"));
        time.advance(Duration.ofMillis(1));

        assertThat(settings()).hasContent("2");
        assertThat(volumes.resolve("kubernetes.io~projected/all/colour")).hasContent("green");
    }

    @Test
    void shouldNameTheObjectThatIsMissingAndUseItOnceItIsThere() {
        objects.remove("settings");

        CompletableFuture<Void> made = pod.prepare(POD);
        time.advance(Duration.ofMillis(1));
        assertThat(made).isCompletedExceptionally();
        assertThat(made.exceptionNow())
                .hasMessageContaining(
                        "MountVolume.SetUp failed for volume \"settings\" : configmap \"settings\" not found");

        objects.put("settings", Json.parseObject("{\"data\": {\"a\": \"1\"}}"));
        prepare();
        assertThat(settings()).hasContent("1");
    }

    @Test
    void shouldKeepTheFilesOfAnObjectThatIsGoneAndRenewTheTokenOfAnotherVolume() {
        prepare();
        assertThat(token()).hasContent("token-1");
        objects.remove("settings");

        tick(3_000);

        assertThat(settings()).hasContent("1");
        assertThat(token()).hasContent("token-2");
        assertThat(events)
                .contains("Warning FailedMount MountVolume.SetUp failed for volume \"settings\" :"
                        + " configmap \"settings\" not found");
    }

    @Test
    void shouldGoOnWithTheVolumesThatAnEarlierAgentMade() {
        prepare();
        objects.put("settings", Json.parseObject("{\"data\": {\"a\": \"2\"}}"));

        pod = new PodVolumes(ports);
        tick(30);
        assertThat(settings()).hasContent("1");
        pod.found(POD);
        tick(11);

        assertThat(settings()).hasContent("2");
    }

    @Test
    void shouldRemoveTheVolumesOnlyAfterAnUpdateThatHangsHasEnded() {
        prepare();
        transport.answer(call -> Optional.empty());
        tick(61);

        CompletableFuture<Void> removed = pod.remove(POD);
        tick(5);
        assertThat(removed).isNotDone();
        tick(10);

        assertThat(removed).isCompleted();
        assertThat(directory.resolve("root/pods/u1")).doesNotExist();
        tick(120);
        assertThat(directory.resolve("root/pods/u1")).doesNotExist();
    }

    private void prepare() {
        CompletableFuture<Void> made = pod.prepare(POD);
        time.advance(Duration.ofMillis(1));
        assertThat(made).isCompleted();
    }

    private void tick(int seconds) {
        for (int second = 0; second < seconds; second++) {
            time.advance(Duration.ofSeconds(1));
            pod.tick(POD);
        }
        time.advance(Duration.ofMillis(1));
    }

    private Path settings() {
        return volumes.resolve("kubernetes.io~configmap/settings/a");
    }

    private Path token() {
        return volumes.resolve("kubernetes.io~projected/all/token");
    }

    private Optional<Reply> serve(Call call) {
        String target = call.toString().split(" ")[1];
        if (target.endsWith("/token")) {
            JsonObject token =
                    JsonObject.builder().put("token", "token-" + ++issued).build();
            return Optional.of(
                    FakeTransport.reply(201, Json.parseObject(call.body()).with("status", token)));
        }
        JsonObject object = objects.get(target.substring(target.lastIndexOf('/') + 1));
        return Optional.of(
                object == null ? FakeTransport.reply(404, JsonObject.EMPTY) : FakeTransport.reply(200, object));
    }

    private static Pod pod(String colour) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "u1", "labels": {"colour": "%s"}},
                 "spec": {"containers": [{"name": "app"}], "volumes": [
                   {"name": "settings", "configMap": {"name": "settings"}},
                   {"name": "all", "projected": {"sources": [
                     {"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}},
                     {"downwardAPI": {"items": [
                       {"path": "colour", "fieldRef": {"fieldPath": "metadata.labels['colour']"}}]}}]}}]}}
                """.formatted(colour)));
    }
}
