package io.nodekeeper.agent.problems;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.facts.ConditionReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NfsCheckTest {
    @TempDir
    private Path directory;

    private final Map<Path, CompletableFuture<Void>> silent = new LinkedHashMap<>();
    private final List<Path> asked = new ArrayList<>();

    private NfsCheck check(int mounts) throws IOException {
        List<String> lines = new ArrayList<>(List.of("27 1 253:1 / / rw - ext4 /dev/vda1 rw"));
        for (int i = 0; i < mounts; i++) {
            lines.add("%d 27 0:%d / /mnt/%d rw - nfs4 filer:/export/%d rw,hard".formatted(100 + i, 50 + i, i, i));
        }
        // A bind mount of the first one asks the same server.
        lines.add("900 27 0:50 /sub /pods/volume rw - nfs4 filer:/export/0 rw,hard");
        Files.write(directory.resolve("mountinfo"), lines);
        return new NfsCheck(() -> Files.readString(directory.resolve("mountinfo")), Duration.ofMillis(20), path -> {
            asked.add(path);
            return silent.getOrDefault(path, CompletableFuture.completedFuture(null));
        });
    }

    private static ConditionReport run(NfsCheck check) throws IOException {
        return check.run().conditions().getFirst();
    }

    @Test
    void serversThatAnswerAreFineAndEachFileSystemIsAskedOnce() throws IOException {
        assertThat(run(check(2)).status()).isEqualTo("False");
        assertThat(asked).containsExactly(Path.of("/mnt/0"), Path.of("/mnt/1"));
    }

    @Test
    void anErrorIsAnAnswer() throws IOException {
        silent.put(Path.of("/mnt/0"), CompletableFuture.failedFuture(new IOException("errno 116")));

        assertThat(run(check(1)).status()).isEqualTo("False");
    }

    @Test
    void aServerThatDoesNotAnswerIsNamedByItsMountUntilItAnswers() throws IOException {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        silent.put(Path.of("/mnt/1"), answer);
        NfsCheck check = check(3);

        for (int i = 0; i < 3; i++) {
            assertThat(run(check))
                    .isEqualTo(new ConditionReport(
                            "NFSUnavailable",
                            "True",
                            "NFSServerNotResponding",
                            "no answer from the server of /mnt/1 from filer:/export/1"));
        }
        assertThat(asked.stream().filter(Path.of("/mnt/1")::equals)).hasSize(1);

        answer.complete(null);
        assertThat(run(check).status()).isEqualTo("False");
    }

    @Test
    void allOfManyFileSystemsAreAskedWhateverIsSilentAmongThem() throws IOException {
        silent.put(Path.of("/mnt/3"), new CompletableFuture<>());
        silent.put(Path.of("/mnt/29"), new CompletableFuture<>());
        NfsCheck check = check(30);

        run(check);
        run(check);

        assertThat(run(check).message())
                .isEqualTo("no answer from the server of /mnt/3 from filer:/export/3, /mnt/29 from filer:/export/29");
    }

    @Test
    void atMostEightQuestionsWait() throws IOException {
        for (int i = 0; i < 40; i++) {
            silent.put(Path.of("/mnt/" + i), new CompletableFuture<>());
        }
        NfsCheck check = check(40);

        run(check);
        assertThat(run(check).message()).endsWith("/mnt/4 from filer:/export/4, and 3 more");
        assertThat(asked).hasSize(8);
    }

    @Test
    void aMountThatIsRemovedIsNoProblemAnyMore() throws IOException {
        silent.put(Path.of("/mnt/1"), new CompletableFuture<>());
        NfsCheck check = check(2);
        assertThat(run(check).status()).isEqualTo("True");

        check(1);
        assertThat(run(check).status()).isEqualTo("False");
    }
}
