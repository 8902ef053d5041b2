package io.nodekeeper.agent.pods.volumes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.mounts.FakeMounts;
import io.nodekeeper.api.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A pod's directories on the disk. */
class PodFilesTest {
    private static final PodFiles.Contents NOTHING = new PodFiles.Contents(Map.of(), 0, Instant.EPOCH);

    @TempDir
    Path directory;

    private final FakeMounts mounts = new FakeMounts();
    private PodFiles files;

    @BeforeEach
    void create() {
        files = new PodFiles(directory.resolve("root"), directory.resolve("logs"), mounts);
    }

    @Test
    void shouldMakeEmptyDirectoriesThatAnyUserMayWriteAndKeepTheirContent() throws Exception {
        Pod pod = pod("{\"name\": \"work\", \"emptyDir\": {}}", "u1");
        files.prepare(pod, NOTHING);
        Path work = directory.resolve("root/pods/u1/volumes/kubernetes.io~empty-dir/work");
        Files.writeString(work.resolve("file"), "kept");

        files.prepare(pod, NOTHING);

        assertThat(files.volumes(pod)).containsEntry("work", work);
        assertThat(Files.getPosixFilePermissions(work)).hasSize(9);
        assertThat(work.resolve("file")).hasContent("kept");
    }

    @Test
    void shouldFinishDirectoriesThatAKilledAgentBegan() throws Exception {
        // given an agent that was killed before its directories had their modes
        Pod pod = pod("{\"name\": \"work\", \"emptyDir\": {}}", "u1");
        Path volumes = directory.resolve("root/pods/u1/volumes/kubernetes.io~empty-dir");
        Files.createDirectories(volumes.resolve(".new-work"));
        Files.setPosixFilePermissions(volumes.resolve(".new-work"), PosixFilePermissions.fromString("rwxr-xr-x"));

        // when another one makes the pod's volumes
        files.prepare(pod, NOTHING);

        // then any user may write there
        assertThat(Files.getPosixFilePermissions(volumes.resolve("work"))).hasSize(9);
        assertThat(volumes.resolve(".new-work")).doesNotExist();
    }

    /** One that made directories with their names first, under a strict umask. */
    @Test
    void shouldCorrectTheModesThatAKilledAgentLeftWhereNoPodCanChangeThem() throws Exception {
        Pod pod = pod("""
                {"name": "settings", "configMap": {"name": "settings"}}, {"name": "work", "emptyDir": {}}""", "u1");
        Path own = directory.resolve("root/pods/u1");
        Path settings = Files.createDirectories(own.resolve("volumes/kubernetes.io~configmap/settings"));
        Path work = Files.createDirectories(own.resolve("volumes/kubernetes.io~empty-dir/work"));
        Path container = Files.createDirectories(own.resolve("containers/app"));
        for (Path path : List.of(own, settings, work, container)) {
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
        }

        files.prepare(pod, contents("a", "1"));
        files.makeTerminationLog("u1", "app", 0);

        assertThat(mode(own)).isEqualTo(0750);
        assertThat(mode(container)).isEqualTo(0750);
        assertThat(mode(settings)).isEqualTo(0777);
        // A pod may have wanted that of its own directory.
        assertThat(mode(work)).isEqualTo(0700);
    }

    @Test
    void shouldFindAndRemoveAPodsDirectoryThatAKilledAgentBegan() throws Exception {
        Files.createDirectories(directory.resolve("root/pods/.new-u1"));

        assertThat(files.uids()).containsExactly("u1");
        files.remove("u1");

        assertThat(directory.resolve("root/pods")).isEmptyDirectory();
    }

    @Test
    void shouldMakeTheDirectoryOfAPodWithItsModeBeforeItHasItsName() throws Exception {
        // given something in the way of the name: the directory is made, and cannot get its name
        Files.createDirectories(directory.resolve("root/pods"));
        Files.createFile(directory.resolve("root/pods/u1"));

        assertThatThrownBy(() -> files.prepare(pod("{\"name\": \"work\", \"emptyDir\": {}}", "u1"), NOTHING))
                .isInstanceOf(IOException.class);

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("root/pods/.new-u1"))))
                .isEqualTo("rwxr-x---");
    }

    @Test
    void shouldLeaveOutAPathThatTheMachineCannotHave() {
        Pod pod = pod(
                "{\"name\": \"data\", \"hostPath\": {\"path\": \"/a\\u0000b\"}}, {\"name\": \"work\", \"emptyDir\": {}}",
                "u1");

        assertThat(files.volumes(pod)).containsOnlyKeys("work");
        assertThatThrownBy(() -> files.checkHostPaths(pod))
                .isInstanceOf(VolumeException.class)
                .hasMessage(
                        "MountVolume.SetUp failed for volume \"data\" : \"/a?b\" cannot be a path: Nul character not"
                                + " allowed");
    }

    @Test
    void shouldNameTheHostPathThatIsNotWhatThePodExpects() {
        Pod pod = pod("{\"name\": \"data\", \"hostPath\": {\"path\": \"/none\", \"type\": \"Directory\"}}", "u1");

        assertThatThrownBy(() -> files.checkHostPaths(pod))
                .isInstanceOf(VolumeException.class)
                .hasMessage(
                        "MountVolume.SetUp failed for volume \"data\" : hostPath type check failed: /none is not a directory");
    }

    @Test
    void shouldFindPodsOfWhichOnlyLogsAreLeft() throws Exception {
        files.prepare(pod("{\"name\": \"work\", \"emptyDir\": {}}", "u1"), NOTHING);
        Files.createDirectories(directory.resolve("logs/shop_web_u1/app"));
        Files.createDirectories(directory.resolve("logs/shop_old.web_u3/app"));
        Files.createDirectories(directory.resolve("logs/other"));
        Files.createDirectories(directory.resolve("logs/a_b_.."));

        assertThat(files.uids()).containsExactly("u1", "u3");
    }

    @Test
    void shouldRemoveEverythingOfOnePodAndFollowNoLink() throws Exception {
        Path outside = Files.writeString(
                Files.createDirectory(directory.resolve("host")).resolve("file"), "stays");
        files.prepare(pod("{\"name\": \"work\", \"emptyDir\": {}}", "u1"), NOTHING);
        files.prepare(pod("{\"name\": \"work\", \"emptyDir\": {}}", "u2"), NOTHING);
        Files.createSymbolicLink(
                directory.resolve("root/pods/u1/volumes/kubernetes.io~empty-dir/work/link"), outside.getParent());
        Files.createDirectories(directory.resolve("logs/shop_web_u1/app"));
        Files.createDirectories(directory.resolve("logs/shop_web_u2/app"));

        files.remove("u1");

        assertThat(files.uids()).containsExactly("u2");
        assertThat(outside).hasContent("stays");
        assertThat(directory.resolve("logs/shop_web_u1")).doesNotExist();
        assertThat(directory.resolve("logs/shop_web_u2")).exists();
    }

    /** Some configure tests make such a tree, and any pod can. */
    @Test
    void shouldRemoveDirectoriesWhosePathsAreLongerThanTheKernelAccepts() throws Exception {
        files.prepare(pod("{\"name\": \"work\", \"emptyDir\": {}}", "u1"), NOTHING);
        Path work = directory.resolve("root/pods/u1/volumes/kubernetes.io~empty-dir/work");
        // No path of the tree is written out: what there is so far moves to the end of another row of directories.
        Path tree = Files.createDirectory(work.resolve("0"));
        Files.writeString(tree.resolve("file"), "x");
        for (int round = 1; round <= 30; round++) {
            Path row = Files.createDirectories(work.resolve(round + "/d".repeat(100)));
            Files.move(tree, row.resolve("t"));
            tree = work.resolve(Integer.toString(round));
            Files.createDirectories(tree.resolve("e/f"));
        }

        files.remove("u1");

        assertThat(files.uids()).isEmpty();
        assertThat(directory.resolve("root/pods/u1")).doesNotExist();
    }

    @Test
    void shouldRefuseAUidThatLeavesTheDirectory() {
        assertThatThrownBy(() -> files.remove("../u1"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a pod's UID must name a directory, got \"../u1\"");
    }

    @Test
    void shouldHoldSecretsInMemoryAndConfigMapsOnDisk() throws Exception {
        Pod pod = pod("""
                {"name": "settings", "configMap": {"name": "settings"}},
                {"name": "keys", "secret": {"secretName": "keys"}},
                {"name": "fast", "emptyDir": {"medium": "Memory", "sizeLimit": "2Mi"}}""", "u1");
        Path volumes = directory.resolve("root/pods/u1/volumes");

        files.prepare(pod, contents("a", "1"));

        assertThat(mounts.memory)
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        volumes.resolve("kubernetes.io~secret/keys"),
                        48L << 20,
                        volumes.resolve("kubernetes.io~empty-dir/fast"),
                        2L << 20));
        assertThat(volumes.resolve("kubernetes.io~configmap/settings/a")).hasContent("1");
        assertThat(volumes.resolve("kubernetes.io~secret/keys/a")).hasContent("1");

        files.update(pod, contents("b", "2"));

        assertThat(volumes.resolve("kubernetes.io~configmap/settings/a")).doesNotExist();
        assertThat(volumes.resolve("kubernetes.io~secret/keys/b")).hasContent("2");

        files.remove("u1");
        assertThat(mounts.memory).isEmpty();
        assertThat(directory.resolve("root/pods/u1")).doesNotExist();
    }

    @Test
    void shouldLimitVolumesInMemoryToThePodsLimitOnlyIfAllItsContainersHaveOne() throws Exception {
        // given nodes whose pods may use 1 GiB: with a limit for all containers that of the pod's cgroup counts
        assertThat(memoryVolume("", limited("64Mi") + ", " + limited("32Mi"), ""))
                .isEqualTo(96L << 20);
        assertThat(memoryVolume(limited("128Mi"), limited("64Mi"), "")).isEqualTo(128L << 20);
        assertThat(memoryVolume("", limited("64Mi"), ", \"overhead\": {\"memory\": \"16Mi\"}"))
                .isEqualTo(80L << 20);

        // and otherwise what pods may use
        assertThat(memoryVolume("", limited("64Mi") + ", {\"name\": \"free\"}", ""))
                .isEqualTo(1L << 30);
        assertThat(memoryVolume("{\"name\": \"free\"}", limited("64Mi"), "")).isEqualTo(1L << 30);
        assertThat(memoryVolume("", limited("64Mi") + ", " + limited("0"), "")).isEqualTo(1L << 30);
        assertThat(memoryVolume("", limited("2Gi"), "")).isEqualTo(1L << 30);
    }

    private static String limited(String memory) {
        return "{\"name\": \"c\", \"resources\": {\"limits\": {\"memory\": \"" + memory + "\"}}}";
    }

    /** The size of a volume in memory of a pod with these containers and more fields. */
    private long memoryVolume(String initContainers, String containers, String more) throws IOException {
        String uid = "u" + mounts.memory.size();
        Pod pod = new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "%s"}, "spec": {
                 "volumes": [{"name": "fast", "emptyDir": {"medium": "Memory"}}],
                 "initContainers": [%s], "containers": [%s]%s}}
                """.formatted(uid, initContainers, containers, more)));
        files.prepare(pod, new PodFiles.Contents(Map.of(), 1L << 30, Instant.EPOCH));
        return Objects.requireNonNull(
                mounts.memory.get(directory.resolve("root/pods/" + uid + "/volumes/kubernetes.io~empty-dir/fast")));
    }

    @ParameterizedTest
    @CsvSource({
        "HugePages, hugepages-2Mi, 2097152",
        "HugePages-1Gi, hugepages-1Gi, 1073741824",
        "HugePages-2Mi, hugepages-2048Ki, 2097152",
    })
    void shouldMountHugePagesOfTheSizeThatThePodRequests(String medium, String resource, long bytes) throws Exception {
        files.prepare(huge(medium, resource), NOTHING);

        assertThat(mounts.hugePages)
                .containsExactly(Map.entry(
                        directory.resolve("root/pods/u1/volumes/kubernetes.io~empty-dir/pages"),
                        List.of(bytes, 8L << 20)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "HugePages | cpu | no container requests huge pages for the medium HugePages",
                "HugePages-1Gi | hugepages-2Mi | no container requests the huge pages of the medium HugePages-1Gi",
                "HugePages-many | hugepages-2Mi | no container requests the huge pages of the medium HugePages-many",
                "HugePages | hugepages-2Mi,hugepages-1Gi | the containers request 2 sizes; expected HugePages-SIZE",
            })
    void shouldRefuseHugePagesThatThePodDoesNotRequest(String medium, String resources, String message) {
        assertThatThrownBy(() -> files.prepare(huge(medium, resources.split(",")), NOTHING))
                .isInstanceOf(VolumeException.class)
                .hasMessageContaining(message);
        assertThat(mounts.hugePages).isEmpty();
    }

    @Test
    void shouldFindTheSizeOfHugePagesThatOnlyAnInitContainerRequests() throws Exception {
        files.prepare(new Pod(Json.parseObject("""
                        {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"}, "spec": {
                         "volumes": [{"name": "pages", "emptyDir": {"medium": "HugePages"}}],
                         "initContainers": [{"name": "i", "resources": {"requests": {"hugepages-2Mi": "4Mi"}}}],
                         "containers": [{"name": "c"}]}}
                        """)), NOTHING);

        assertThat(mounts.hugePages.values()).containsExactly(List.of(2L << 20, 0L));
    }

    /** A pod with a volume of huge pages whose containers limit each of {@code resources}. */
    private static Pod huge(String medium, String... resources) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"}, "spec": {
                 "volumes": [{"name": "pages", "emptyDir": {"medium": "%s", "sizeLimit": "8Mi"}}], "containers": [%s]}}
                """.formatted(
                        medium,
                        Stream.of(resources)
                                .map("{\"name\": \"c\", \"resources\": {\"limits\": {\"%s\": \"1Gi\"}}}"::formatted)
                                .collect(Collectors.joining(",")))));
    }

    @Test
    void shouldRemoveNothingOfAPodWhileSomethingIsMountedBelowItsDirectory() throws Exception {
        files.prepare(pod("{\"name\": \"work\", \"emptyDir\": {}}", "u1"), NOTHING);
        Path file = Files.writeString(
                directory.resolve("root/pods/u1/volumes/kubernetes.io~empty-dir/work/file"), "of the host");
        mounts.stuck = true;

        assertThatThrownBy(() -> files.remove("u1")).hasMessageContaining("remain");

        assertThat(file).hasContent("of the host");
    }

    @Test
    void shouldMountPartsOfVolumesBelowThePodsDirectory() throws Exception {
        Pod pod = pod("{\"name\": \"data\", \"hostPath\": {\"path\": \"/srv\"}}", "u1");

        Path target = files.subPath(
                pod, "data", Objects.requireNonNull(files.volumes(pod).get("data")), "app", 2, "a/b");

        assertThat(target).isEqualTo(directory.resolve("root/pods/u1/volume-subpaths/data/app/2"));
        assertThat(mounts.parts).containsExactly("/srv a/b " + target);
    }

    @Test
    void shouldGiveReadOnlyFilesToTheGroupOfThePod() throws Exception {
        Object group = Files.getAttribute(directory, "unix:gid");
        Pod pod = new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"},
                 "spec": {"securityContext": {"fsGroup": %s},
                          "volumes": [{"name": "keys", "secret": {"secretName": "keys"}}]}}
                """.formatted(group)));

        files.prepare(pod, contents("a", "1"));

        Path data = directory
                .resolve("root/pods/u1/volumes/kubernetes.io~secret/keys/a")
                .toRealPath();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data)))
                .isEqualTo("r--r-----");
        assertThat((int) Files.getAttribute(data.getParent(), "unix:mode") & 07777)
                .isEqualTo(02755);
    }

    private static Pod grouped(Object group, String policy) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"},
                 "spec": {"securityContext": {"fsGroup": %s, "fsGroupChangePolicy": "%s"}, "volumes": []}}
                """.formatted(group, policy)));
    }

    private static int mode(Path path) throws Exception {
        return (int) Files.getAttribute(path, "unix:mode") & 07777;
    }

    @Test
    void shouldLeaveAVolumeWhoseTopIsTheGroupsAlreadyIfThePodAsksForThat() throws Exception {
        Object group = Files.getAttribute(directory, "unix:gid");
        files.prepare(grouped(group, "Always"), NOTHING);
        Path volume = Files.createDirectory(directory.resolve("volume"));
        Path file = Files.createFile(volume.resolve("file"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));

        files.giveToGroup(grouped(group, "OnRootMismatch"), volume);
        assertThat(mode(volume)).isEqualTo(02775);
        assertThat(mode(file)).isEqualTo(0660);

        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        files.giveToGroup(grouped(group, "OnRootMismatch"), volume);
        assertThat(mode(file)).isEqualTo(0600);

        files.giveToGroup(grouped(group, "Always"), volume);
        assertThat(mode(file)).isEqualTo(0660);

        // Without the group's right to enter.
        Files.setAttribute(volume, "unix:mode", 02765);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        files.giveToGroup(grouped(group, "OnRootMismatch"), volume);
        assertThat(mode(file)).isEqualTo(0660);
    }

    private static PodFiles.Contents contents(String path, String text) {
        SortedMap<String, FileContent> files = new TreeMap<>();
        files.put(path, new FileContent(text.getBytes(StandardCharsets.UTF_8), 0400, OptionalLong.empty()));
        return new PodFiles.Contents(Map.of("settings", files, "keys", files), 0, Instant.EPOCH);
    }

    private static Pod pod(String volume, String uid) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "%s"}, "spec": {"volumes": [%s]}}
                """.formatted(uid, volume)));
    }
}
