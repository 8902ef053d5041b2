package io.nodekeeper.agent.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogFilesTest {
    @TempDir
    private Path root;

    private void log(String path, int bytes) throws IOException {
        Path file = root.resolve("pods").resolve(path);
        Files.createDirectories(file.getParent());
        Files.write(file, new byte[bytes]);
    }

    private LogFiles logs() {
        return new LogFiles(root.resolve("pods"));
    }

    @Test
    void theLogsOfAContainerAreAllFilesOfItsDirectory() throws IOException {
        log("default_web_u1/main/0.log", 100);
        log("default_web_u1/main/0.log.20260301-1", 20);
        log("default_web_u1/other/0.log", 7);

        assertThat(logs().read(List.of(StatsFixture.POD)))
                .containsOnlyKeys("c1")
                .containsValue(new DiskUse(120, 2));
    }

    @Test
    void theLogsOfContainersThatHaveEndedCountOnceForEachName() throws IOException {
        log("default_web_u1/main/0.log", 100);
        log("default_web_u1/main/1.log", 20);
        log("default_web_u1/init/0.log", 7);
        RunningPod pod = new RunningPod(
                "u1",
                "web",
                "default",
                "s1",
                Optional.empty(),
                List.of(new RunningPod.RunningContainer("c1", "main", Optional.empty())),
                List.of(
                        new RunningPod.EndedContainer("c0", "main"),
                        new RunningPod.EndedContainer("i1", "init"),
                        new RunningPod.EndedContainer("x1", "none")));

        assertThat(logs().read(List.of(pod))).isEqualTo(Map.of("c1", new DiskUse(120, 2), "i1", new DiskUse(7, 1)));
    }

    @Test
    void aContainerWithoutADirectoryOfLogsIsLeftOut() throws IOException {
        assertThat(logs().read(List.of(StatsFixture.POD))).isEmpty();
    }

    @Test
    void aNameThatLeadsElsewhereIsNotFollowed() throws IOException {
        log("default_web_u1/main/0.log", 100);
        Files.createDirectories(root.resolve("secrets"));
        RunningPod pod = new RunningPod(
                "u1",
                "web",
                "default",
                "s1",
                Optional.empty(),
                List.of(new RunningPod.RunningContainer("c1", "../../secrets", Optional.empty())));

        assertThat(logs().read(List.of(pod))).isEmpty();
    }

    @Test
    void moreFilesThanTheLimitAreAnError() throws IOException {
        for (int i = 0; i <= 1_000; i++) {
            log("default_web_u1/main/" + i + ".log", 0);
        }

        assertThatThrownBy(() -> logs().read(List.of(StatsFixture.POD)))
                .hasMessageEndingWith("/default_web_u1/main has more than 1000 files, which is the limit");
    }
}
