package io.nodekeeper.agent.pods.volumes;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.mounts.FakeMounts;
import io.nodekeeper.api.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Links to logs, and what is left of containers. */
class ContainerLogsTest {
    private static final Pod POD =
            new Pod(Json.parseObject("{\"metadata\": {\"name\": \"web\", \"namespace\": \"shop\", \"uid\": \"u1\"}}"));

    @TempDir
    Path directory;

    private PodFiles files;
    private Path log;
    private Path link;

    @BeforeEach
    void aLog() throws IOException {
        files = new PodFiles(directory.resolve("root"), directory.resolve("pods"), new FakeMounts());
        log = directory.resolve("pods/shop_web_u1/app/0.log");
        link = directory.resolve("containers/web_shop_app-c1.log");
        Files.createDirectories(log.resolveSibling(""));
        Files.writeString(log, "line");
    }

    @Test
    void shouldLinkALogByThePodsAndTheContainersNames() throws IOException {
        files.linkLog(POD, "app", 0, "c1");

        assertThat(Files.readSymbolicLink(link)).isEqualTo(log);
        files.linkLog(POD, "app", 1, "c2");
        assertThat(directory.resolve("containers/web_shop_app-c2.log")).doesNotExist();
    }

    @Test
    void shouldRemoveWithAContainerItsLinkAndAllOfItsLogs() throws IOException {
        files.linkLog(POD, "app", 0, "c1");
        files.makeTerminationLog("u1", "app", 0);
        Files.writeString(log.resolveSibling("0.log.20260101-000000.gz"), "");
        Path next = Files.writeString(log.resolveSibling("1.log"), "");

        files.removeContainer(POD, "app", 0, "c1");

        assertThat(link.toFile()).doesNotExist();
        assertThat(log.resolveSibling(""))
                .isDirectoryContaining(next::equals)
                .isDirectoryNotContaining("glob:**0.log*");
        assertThat(files.terminationLog("u1", "app", 0)).doesNotExist();
    }

    @Test
    void shouldRemoveWithAPodOnlyItsOwnLinks() throws IOException {
        files.linkLog(POD, "app", 0, "c1");
        Path foreign = directory.resolve("containers/web_shop_app-other.log");
        Files.createSymbolicLink(foreign, directory.resolve("pods/shop_web_u2/app/0.log"));

        files.remove("u1");

        assertThat(Files.exists(link, LinkOption.NOFOLLOW_LINKS)).isFalse();
        assertThat(Files.isSymbolicLink(foreign)).isTrue();
    }
}
