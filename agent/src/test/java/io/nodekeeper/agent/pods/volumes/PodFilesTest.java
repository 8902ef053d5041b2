package io.nodekeeper.agent.pods.volumes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pod's directories on the disk. */
class PodFilesTest {
    @TempDir
    Path directory;

    private PodFiles files;

    @BeforeEach
    void create() {
        files = new PodFiles(directory.resolve("root"), directory.resolve("logs"));
    }

    @Test
    void shouldMakeEmptyDirectoriesThatAnyUserMayWriteAndKeepTheirContent() throws Exception {
        Pod pod = pod("{\"name\": \"work\", \"emptyDir\": {}}", "u1");
        files.prepare(pod);
        Path work = directory.resolve("root/pods/u1/volumes/kubernetes.io~empty-dir/work");
        Files.writeString(work.resolve("file"), "kept");

        files.prepare(pod);

        assertThat(files.volumes(pod)).containsEntry("work", work);
        assertThat(Files.getPosixFilePermissions(work)).hasSize(9);
        assertThat(work.resolve("file")).hasContent("kept");
    }

    @Test
    void shouldNameTheHostPathThatIsNotWhatThePodExpects() {
        Pod pod = pod("{\"name\": \"data\", \"hostPath\": {\"path\": \"/none\", \"type\": \"Directory\"}}", "u1");

        assertThatThrownBy(() -> files.prepare(pod))
                .isInstanceOf(IOException.class)
                .hasMessage("volume \"data\": hostPath type check failed: /none is not a directory");
    }

    @Test
    void shouldRemoveEverythingOfOnePodAndFollowNoLink() throws Exception {
        Path outside = Files.writeString(
                Files.createDirectory(directory.resolve("host")).resolve("file"), "stays");
        files.prepare(pod("{\"name\": \"work\", \"emptyDir\": {}}", "u1"));
        files.prepare(pod("{\"name\": \"work\", \"emptyDir\": {}}", "u2"));
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

    @Test
    void shouldRefuseAUidThatLeavesTheDirectory() {
        assertThatThrownBy(() -> files.remove("../u1"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a pod's UID must name a directory, got \"../u1\"");
    }

    private static Pod pod(String volume, String uid) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "%s"}, "spec": {"volumes": [%s]}}
                """.formatted(uid, volume)));
    }
}
