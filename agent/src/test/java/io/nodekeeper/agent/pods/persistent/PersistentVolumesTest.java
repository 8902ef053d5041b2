package io.nodekeeper.agent.pods.persistent;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.csi.CsiDriver;
import io.nodekeeper.agent.csi.FakeObjects;
import io.nodekeeper.agent.plugins.FakePlugins;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.objects.ObjectCache;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.cri.plugin.PluginCall;
import io.nodekeeper.cri.plugin.PluginCallException;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** CSI volumes of pods from the claim to the mount and back, with a simulated driver, in virtual time. */
class PersistentVolumesTest {
    private static final String NAME = "kubernetes.io/csi/d^h";
    private static final String CSI_DRIVER = "/apis/storage.k8s.io/v1/csidrivers/d";

    @TempDir
    Path root;

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final FakeObjects api = new FakeObjects();
    private final FakePlugins plugins = new FakePlugins(loop);
    private final List<String> events = new ArrayList<>();
    private final Set<String> hanging = new HashSet<>();
    private final Set<PluginCall.Capability> capabilities =
            new HashSet<>(Set.of(PluginCall.Capability.STAGE_UNSTAGE_VOLUME));
    private boolean registered = true;
    private boolean attaches = true;
    private boolean goesOn = true;
    private int changes;
    private Path global;
    private Path mountTable;
    private PersistentVolumes volumes;

    @BeforeEach
    void cluster() throws IOException {
        mountTable = Files.createFile(root.resolve("mountinfo"));
        global = root.resolve("plugins/kubernetes.io/csi/d/" + CsiVolume.sha256("h"));
        claim("c", "pv1", "h", "");
        plugins.answer((socket, call) -> {
            if (hanging.contains(call.method())) {
                return Optional.empty();
            }
            return Optional.of(new PluginCall.Done());
        });
        restart();
    }

    @Test
    void aVolumeIsReportedInUseThenAwaitsItsAttachmentThenIsMounted() {
        CompletableFuture<List<PersistentVolumes.Prepared>> mounted = prepare("a", "c");
        advance(1);
        assertThat(volumes.inUse()).contains(List.of(NAME));
        assertThat(changes).isPositive();
        attached();
        advance(5);
        assertThat(plugins.calls).isEmpty();

        volumes.reported(List.of(NAME));
        advance(5);

        assertThat(mounted.join().getFirst().path()).contains(target("a"));
        assertThat(plugins.calls)
                .containsExactly(
                        "d.sock NodeStageVolume[volume=Volume[h]]",
                        "d.sock NodePublishVolume[volume=Volume[h], target=" + target("a") + ", readOnly=false]");
        assertThat(data(global)).isEqualTo(Json.parseObject("{\"driverName\": \"d\", \"volumeHandle\": \"h\"}"));
        assertThat(data(target("a").resolveSibling("")))
                .isEqualTo(Json.parseObject("""
                {"attachmentID": "csi-%s", "driverName": "d", "nodeName": "n1", "specVolID": "pv1",
                 "volumeHandle": "h", "volumeLifecycleMode": "Persistent"}""".formatted(CsiVolume.sha256("hdn1"))));
    }

    @Test
    void twoPodsShareTheStagedVolumeAndTheLastOneEndsIt() {
        ready("a");
        ready("b");
        assertThat(count("NodeStageVolume")).isEqualTo(1);

        end("a");
        assertThat(count("NodeUnpublishVolume")).isEqualTo(1);
        assertThat(count("NodeUnstageVolume")).isZero();
        assertThat(volumes.inUse()).contains(List.of(NAME));

        end("b");
        assertThat(count("NodeUnstageVolume")).isEqualTo(1);
        assertThat(volumes.inUse()).contains(List.of());
        assertThat(global).doesNotExist();
    }

    @Test
    void aVolumeThatIsNotAttachedIsToldAndFailsAfterTwoMinutes() {
        CompletableFuture<?> mounted = prepare("a", "c");
        advance(1);
        volumes.reported(List.of(NAME));
        advance(11);
        assertThat(events)
                .containsExactly("FailedAttachVolume AttachVolume.Attach failed for volume \"pv1\" : VolumeAttachment"
                        + " csi-" + CsiVolume.sha256("hdn1") + " of driver d is not attached yet");

        advance(120);

        assertThat(mounted.exceptionNow())
                .hasMessageContaining("MountVolume.WaitForAttach failed for volume \"pv1\" : timed out waiting for"
                        + " external-attacher of d CSI driver to attach volume h");
    }

    @Test
    void aPodThatMustEndWaitsNoLonger() {
        CompletableFuture<?> mounted = prepare("a", "c");
        advance(1);

        goesOn = false;
        advance(3);

        assertThat(mounted.exceptionNow())
                .hasMessageContaining("Volume has not been added to the list of VolumesInUse in the node's volume"
                        + " status for volume \"pv1\"");
    }

    @Test
    void anErrorOfTheAttacherIsTheEventsMessage() {
        api.put(
                attachment(),
                "{\"metadata\": {}, \"status\": {\"attached\": false, \"attachError\": {\"message\": \"no disk\"}}}");
        CompletableFuture<?> mounted = prepare("a", "c");
        advance(1);
        volumes.reported(List.of(NAME));
        advance(3);

        PersistentException error = (PersistentException) cause(mounted);
        assertThat(error.reason()).isEqualTo("FailedAttachVolume");
        assertThat(error).hasMessage("AttachVolume.Attach failed for volume \"pv1\" : no disk");
    }

    @Test
    void aDriverWhoseVolumesAreNotAttachedIsCalledAtOnceAndNothingIsInUse() {
        policy("\"attachRequired\": false");

        prepare("a", "c");
        advance(1);

        assertThat(count("NodePublishVolume")).isEqualTo(1);
        assertThat(volumes.inUse()).contains(List.of());
    }

    @Test
    void aNodeThatShallAttachItselfRefuses() {
        attaches = false;
        restart();

        assertThat(cause(prepareNow("a", "c")))
                .hasMessage("AttachVolume.Attach failed for volume \"pv1\" : enableControllerAttachDetach is false,"
                        + " and this node's agent attaches no volumes");
    }

    @Test
    void aDriverThatHangsIsNamedAndDelaysNoPodOfAnother() {
        policy("\"attachRequired\": false");
        hanging.add("NodePublishVolume");
        CompletableFuture<?> hung = prepare("a", "c");
        advance(11);
        assertThat(events)
                .containsExactly("FailedMount CSI driver d has not answered NodePublishVolume for volume \"pv1\" since"
                        + " 10 s");
        hanging.clear();

        claim("c2", "pv2", "h2", "");
        CompletableFuture<?> other = prepare("b", "c2");
        advance(1);
        assertThat(other).isCompleted();
        assertThat(hung).isNotDone();

        advance(120);
        assertThat(hung.exceptionNow())
                .hasMessageContaining("MountVolume.SetUp failed for volume \"pv1\" : rpc error: code = DeadlineExceeded"
                        + " desc = context deadline exceeded");
    }

    @Test
    void aDriverThatIsNotRegisteredIsNamed() {
        policy("\"attachRequired\": false");
        registered = false;

        assertThat(cause(prepareNow("a", "c")))
                .hasMessage("MountVolume.MountDevice failed for volume \"pv1\" : kubernetes.io/csi:"
                        + " attacher.MountDevice failed to create newCsiDriverClient: driver name d not found in the"
                        + " list of registered CSI drivers");
    }

    @Test
    void anAgentThatRestartsFindsWhatIsMountedAndEndsIt() {
        ready("a");
        ready("b");
        plugins.calls.clear();
        registered = false;
        restart();
        assertThat(volumes.inUse()).isEmpty();
        advance(1);
        volumes.tick();
        advance(1);
        assertThat(volumes.inUse()).contains(List.of(NAME));

        // Of a pod that is gone only the UID is known; its driver is not there yet.
        CompletableFuture<?> early = volumes.unmount(pod("a", "c"));
        advance(1);
        assertThat(early.exceptionNow())
                .hasMessageContaining("UnmountVolume.TearDown failed for volume \"pv1\" (UniqueName: \"" + NAME
                        + "\") pod \"a\" (UID: \"uid-a\") : kubernetes.io/csi: Unmounter.TearDownAt failed to get CSI"
                        + " client: driver name d not found in the list of registered CSI drivers");
        registered = true;
        end("a");
        assertThat(count("NodeUnstageVolume")).isZero();
        end("b");
        assertThat(count("NodeUnpublishVolume")).isEqualTo(2);
        assertThat(count("NodeUnstageVolume")).isEqualTo(1);
        assertThat(volumes.inUse()).contains(List.of());
    }

    @Test
    void aFileThatCannotBeReadDoesNotSayThatNothingIsMounted() throws IOException {
        // given a pod with a volume, and a file about it whose content the disk does not give
        ready("a");
        Path file = target("a").resolveSibling("vol_data.json");
        String content = Files.readString(file);
        Files.delete(file);
        Files.createDirectory(file);
        plugins.calls.clear();

        // when the agent starts again
        restart();
        look();

        // then the volume is in use, nothing is unmounted from the node under the pod, and its end fails until the file
        // can be read
        assertThat(plugins.calls).isEmpty();
        assertThat(volumes.inUse()).contains(List.of(NAME));
        CompletableFuture<?> early = volumes.unmount(pod("a", "c"));
        advance(1);
        assertThat(early).isCompletedExceptionally();
        Files.delete(file);
        Files.writeString(file, content);
        look();
        assertThat(volumes.inUse()).contains(List.of(NAME));
        assertThat(count("NodeUnstageVolume")).isZero();
        end("a");
        assertThat(count("NodeUnpublishVolume")).isEqualTo(1);
        assertThat(count("NodeUnstageVolume")).isEqualTo(1);
    }

    @Test
    void aMalformedFileCountsAsNothingOnlyIfNothingIsMountedBesideIt() throws IOException {
        // given a pod with a volume, and a file about it that was written in part
        ready("a");
        Files.writeString(target("a").resolveSibling("vol_data.json"), "{\"driverName\":");
        Files.writeString(
                mountTable,
                "36 35 0:50 / %s rw - ext4 /dev/sdb rw\n"
                        .formatted(root.toRealPath().resolve(root.relativize(target("a")))));
        plugins.calls.clear();

        // when the agent starts again, and while the volume is mounted
        restart();
        look();
        CompletableFuture<?> early = volumes.unmount(pod("a", "c"));
        advance(1);

        // then it is left alone, and the pod does not end without it
        assertThat(plugins.calls).isEmpty();
        assertThat(early.exceptionNow())
                .hasMessageContaining("vol_data.json names no driver and volume, though one is mounted beside it");

        // and once it is unmounted, such as by a restart of the machine, nothing waits for it
        Files.writeString(mountTable, "");
        look();
        CompletableFuture<?> unmounted = volumes.unmount(pod("a", "c"));
        advance(1);
        assertThat(unmounted).isCompleted();
        assertThat(count("NodeUnstageVolume")).isEqualTo(1);
    }

    /** The rounds of some seconds. */
    private void look() {
        for (int second = 0; second < 3; second++) {
            volumes.tick();
            advance(1);
        }
    }

    @Test
    void whileTheApiDoesNotSayWhetherAFoundVolumeIsAttachedNothingIsReported() {
        ready("a");
        api.transport.answer(call -> Optional.empty());
        restart();
        advance(30);
        volumes.tick();
        advance(1);

        assertThat(volumes.inUse()).isEmpty();
    }

    @Test
    void aVolumeThatCannotBeUnstagedIsTriedAgain() {
        ready("a");
        plugins.answer((socket, call) -> Optional.of(
                call instanceof PluginCall.NodeUnstageVolume
                        ? new PluginCallException("Internal", "busy")
                        : new PluginCall.Done()));
        end("a");
        assertThat(volumes.inUse()).contains(List.of(NAME));

        plugins.answer((socket, call) -> Optional.of(new PluginCall.Done()));
        advance(1);
        volumes.tick();
        advance(1);

        assertThat(volumes.inUse()).contains(List.of());
    }

    @Test
    void anInlineVolumeNeedsADriverThatAllowsIt() {
        Pod pod = podWith(
                "a", "{\"name\": \"data\", \"csi\": {\"driver\": \"d\", \"volumeAttributes\": {\"k\": \"v\"}}}");
        CompletableFuture<?> refused = volumes.prepare(pod, () -> true);
        advance(1);
        assertThat(cause(refused))
                .hasMessage("MountVolume.SetUp failed for volume \"data\" : volume mode \"Ephemeral\" not supported by"
                        + " driver d (no CSIDriver object)");

        policy("\"volumeLifecycleModes\": [\"Ephemeral\"], \"podInfoOnMount\": true");
        List<PluginCall.Volume> published = new ArrayList<>();
        plugins.answer((socket, call) -> {
            if (call instanceof PluginCall.NodePublishVolume publish) {
                published.add(publish.volume());
            }
            return Optional.of(new PluginCall.Done());
        });
        advance(11);
        CompletableFuture<?> mounted = volumes.prepare(pod, () -> true);
        advance(1);

        assertThat(mounted).isCompleted();
        assertThat(count("NodeStageVolume")).isZero();
        assertThat(published.getFirst().volumeContext())
                .containsEntry("k", "v")
                .containsEntry("csi.storage.k8s.io/pod.name", "a")
                .containsEntry("csi.storage.k8s.io/pod.uid", "uid-a")
                .containsEntry("csi.storage.k8s.io/ephemeral", "true");
        assertThat(published.getFirst().stagingPath()).isEmpty();
        assertThat(volumes.inUse()).contains(List.of());
    }

    @Test
    void secretsTokensAndGroupReachTheDriver() {
        policy("\"attachRequired\": false, \"tokenRequests\": [{\"audience\": \"vault\"}]");
        capabilities.add(PluginCall.Capability.VOLUME_MOUNT_GROUP);
        claim("c", "pv1", "h", ", \"nodePublishSecretRef\": {\"namespace\": \"safe\", \"name\": \"key\"}");
        List<PluginCall.Volume> published = new ArrayList<>();
        plugins.answer((socket, call) -> {
            if (call instanceof PluginCall.NodePublishVolume publish) {
                published.add(publish.volume());
            }
            return Optional.of(new PluginCall.Done());
        });
        assertThat(cause(prepareNow("a", "c")))
                .hasMessageContaining("fetching NodePublishSecretRef safe/key failed: secrets \"key\" not found");

        api.put("/api/v1/namespaces/safe/secrets/key", "{\"data\": {\"k\": \"b3Blbg==\"}}");
        CompletableFuture<List<PersistentVolumes.Prepared>> prepared = prepareNow("a", "c");

        // The driver mounts it for the group, so nothing is left to do.
        assertThat(prepared.join())
                .extracting(PersistentVolumes.Prepared::givesGroup)
                .containsExactly(false);
        PluginCall.Volume volume = published.getFirst();
        assertThat(volume.secrets()).containsEntry("k", "open");
        assertThat(volume.mountGroup()).isEqualTo("2000");
        assertThat(volume.volumeContext().get("csi.storage.k8s.io/serviceAccount.tokens"))
                .isEqualTo("{\"vault\":{\"token\":\"t0ken\",\"expirationTimestamp\":\"2026-01-01T01:00:00Z\"}}");
        assertThat(volume.toString()).doesNotContain("open");
    }

    @Test
    void aVolumeForOnePodIsRefusedToASecondOne() {
        policy("\"attachRequired\": false");
        api.objects.computeIfPresent(
                "/api/v1/persistentvolumes/pv1",
                (path, volume) -> volume.update(
                        "spec",
                        spec -> spec.with(
                                "accessModes",
                                Json.parseObject("{\"m\":[\"ReadWriteOncePod\"]}")
                                        .array("m"))));
        prepareNow("a", "c");

        assertThat(cause(prepareNow("b", "c")))
                .hasMessage("MountVolume.SetUp failed for volume \"pv1\" : volume uses the ReadWriteOncePod access mode"
                        + " and is already in use by another pod");
    }

    @Test
    void driversThatWantItAreCalledAgainWhileThePodRuns() {
        policy("\"attachRequired\": false, \"requiresRepublish\": true");
        prepareNow("a", "c");

        volumes.refresh(pod("a", "c"), () -> goesOn);
        advance(1);

        assertThat(count("NodePublishVolume")).isEqualTo(2);
        assertThat(count("NodeStageVolume")).isEqualTo(1);
    }

    @Test
    void aCallThatWouldBeRepeatedWaitsForItsAttachmentNoLongerThanItsPodRuns() {
        // given a volume that is detached while its pod runs
        policy("\"requiresRepublish\": true");
        ready("a");
        api.objects.remove(attachment());
        CompletableFuture<?> repeated = volumes.refresh(pod("a", "c"), () -> goesOn);
        advance(5);
        assertThat(repeated).isNotDone();

        // when the pod must end
        goesOn = false;
        advance(3);

        // then nothing waits any more
        assertThat(repeated).isCompletedExceptionally();
        assertThat(count("NodePublishVolume")).isEqualTo(1);
    }

    /** Everything of an agent but its memory. */
    private void restart() {
        BlockingCalls atOnce = new BlockingCalls() {
            @Override
            public <T> CompletableFuture<T> call(String what, Duration deadline, Callable<T> work) {
                try {
                    return CompletableFuture.completedFuture(work.call());
                } catch (Exception e) {
                    return CompletableFuture.failedFuture(e);
                }
            }
        };
        KubeClient client = new KubeClient(api.transport, loop, Duration.ofSeconds(10));
        VolumePorts ports = new VolumePorts(
                "n1",
                root,
                client,
                new ObjectCache(client, 16 << 20),
                loop,
                atOnce,
                plugins,
                name -> Optional.of(new CsiDriver(name, Path.of("/d.sock"), capabilities))
                        .filter(driver -> registered),
                attaches,
                () -> changes++,
                (pod, reason, message) -> events.add(reason + " " + message));
        volumes = new PersistentVolumes(ports, mountTable);
        volumes.tick();
    }

    private void ready(String pod) {
        CompletableFuture<?> mounted = prepare(pod, "c");
        attached();
        advance(1);
        volumes.reported(List.of(NAME));
        advance(3);
        assertThat(mounted).isCompleted();
    }

    private void end(String pod) {
        CompletableFuture<Void> unmounted = volumes.unmount(pod(pod, "c"));
        advance(1);
        assertThat(unmounted).isCompleted();
        try {
            Files.deleteIfExists(target(pod).resolveSibling("vol_data.json"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        volumes.release("uid-" + pod);
        advance(1);
    }

    private CompletableFuture<List<PersistentVolumes.Prepared>> prepare(String pod, String claim) {
        return volumes.prepare(pod(pod, claim), () -> goesOn);
    }

    private CompletableFuture<List<PersistentVolumes.Prepared>> prepareNow(String pod, String claim) {
        // What was read before is too old.
        advance(11);
        CompletableFuture<List<PersistentVolumes.Prepared>> prepared = prepare(pod, claim);
        advance(1);
        return prepared;
    }

    private static Throwable cause(CompletableFuture<?> failed) {
        Throwable error = failed.exceptionNow();
        return error.getCause() == null || error instanceof PersistentException ? error : error.getCause();
    }

    private static Pod pod(String name, String claim) {
        return podWith(name, "{\"name\": \"data\", \"persistentVolumeClaim\": {\"claimName\": \"" + claim + "\"}}");
    }

    private static Pod podWith(String name, String volume) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "%1$s", "namespace": "shop", "uid": "uid-%1$s"},
                 "spec": {"securityContext": {"fsGroup": 2000}, "volumes": [%2$s]}}""".formatted(name, volume)));
    }

    private void claim(String claim, String volume, String handle, String more) {
        api.put("/api/v1/namespaces/shop/persistentvolumeclaims/" + claim, """
                {"metadata": {"uid": "uid-%s"}, "spec": {"volumeName": "%s"}, "status": {"phase": "Bound"}}""".formatted(claim, volume));
        api.put("/api/v1/persistentvolumes/" + volume, """
                {"metadata": {"name": "%s"}, "spec": {"claimRef": {"uid": "uid-%s"}, "accessModes": ["ReadWriteOnce"],
                 "csi": {"driver": "d", "volumeHandle": "%s"%s}}}""".formatted(volume, claim, handle, more));
    }

    private void policy(String spec) {
        api.put(CSI_DRIVER, "{\"metadata\": {\"name\": \"d\"}, \"spec\": {" + spec + "}}");
    }

    private void attached() {
        api.put(attachment(), "{\"metadata\": {}, \"status\": {\"attached\": true}}");
    }

    private static String attachment() {
        return "/apis/storage.k8s.io/v1/volumeattachments/csi-" + CsiVolume.sha256("hdn1");
    }

    private Path target(String pod) {
        return root.resolve("pods/uid-" + pod + "/volumes/kubernetes.io~csi/pv1/mount");
    }

    private static JsonObject data(Path directory) {
        try {
            return Json.parseObject(Files.readString(directory.resolve("vol_data.json")));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private long count(String method) {
        return plugins.calls.stream()
                .filter(call -> call.contains(" " + method + "["))
                .count();
    }

    private void advance(int seconds) {
        time.advance(Duration.ofSeconds(seconds));
    }
}
