package io.nodekeeper.cli.doctor.bundle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.nodekeeper.agent.culprit.Findings;
import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.doctor.node.NodeCheckups;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive of {@code doctor --bundle}, unpacked by the real tar: what is in it, and that no secret is. */
class BundleTest {
    private static final String SECRET = "hunter2Xq9";

    private static final Bundle.Limits LIMITS = new Bundle.Limits(16 << 10, 128 << 10, 8 << 10);

    @TempDir
    Path directory;

    private final ThreadLoop loop = new ThreadLoop("bundle-test");
    private final Workers workers = new Workers("bundle-test", 2, loop);
    private final Bundle bundle = new Bundle(workers, loop.clock(), LIMITS);

    @AfterEach
    void end() {
        workers.close();
        loop.close();
    }

    /** Everything in which a secret may stand, one after the other. */
    private static String poisoned() {
        return String.join("\n", RedactionTest.PLACES).replace("%s", SECRET) + "\n";
    }

    private Map<String, String> unpacked() throws Exception {
        Path file = directory.resolve("bundle-" + System.identityHashCode(bundle) + ".tar.gz");
        Bundle.write(file, bundle.archive());
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        Path to = Files.createTempDirectory(directory, "unpacked");
        Process tar = new ProcessBuilder("tar", "-xzf", file.toString(), "-C", to.toString(), "--no-same-owner")
                .inheritIO()
                .start();
        assertThat(tar.waitFor()).isZero();
        Map<String, String> texts = new TreeMap<>();
        try (Stream<Path> all = Files.walk(to)) {
            for (Path each : all.filter(Files::isRegularFile).toList()) {
                texts.put(to.relativize(each).toString(), Files.readString(each));
            }
        }
        return texts;
    }

    private static JsonObject manifest(Map<String, String> files) {
        return Json.parseObject(files.getOrDefault("MANIFEST.json", "{}"));
    }

    @Test
    void noFileOfTheBundleContainsAPlantedSecret() throws Exception {
        // given a machine, an agent and an API server that have secrets in everything that is read
        for (String name : List.of(
                "proc/meminfo",
                "proc/self/mountinfo",
                "proc/cmdline",
                "etc/os-release",
                "proc/sys/kernel/osrelease",
                "proc/sys/kernel/random/boot_id",
                "proc/net/route")) {
            Path file = directory.resolve("root").resolve(name);
            Files.createDirectories(file.getParent());
            Files.writeString(file, poisoned());
        }
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] page = poisoned().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        server.start();
        int port = server.getAddress().getPort();
        Findings findings = new Findings(
                "/run/c.sock",
                Optional.empty(),
                Optional.empty(),
                ContainerIndex.NONE,
                List.of(),
                List.of(),
                "",
                List.of(),
                List.of());
        try (var reads = NodeCheckups.reads(port, "token-" + SECRET, loop)) {
            // when the bundle is made
            bundle.collect(new NodeEvidence(directory.resolve("root"))
                    .of(poisoned(), poisoned(), findings, Optional.of(reads.reads()), port));
            bundle.collect(List.of(new Evidence("failing", () -> {
                throw new IOException("cannot log in with password=" + SECRET);
            })));
        } finally {
            server.stop(0);
        }

        // then the secrets are in none of its files, and the files are there
        Map<String, String> files = unpacked();
        assertThat(files)
                .containsKeys(
                        "MANIFEST.json",
                        "doctor.txt",
                        "doctor.json",
                        "versions.txt",
                        "api/node.json",
                        "api/lease.json",
                        "proc/meminfo",
                        "proc/self/mountinfo",
                        "pages-" + port + "/metrics.txt",
                        "pages-" + port + "/debug-runtime.txt");
        assertThat(files).allSatisfy((name, text) -> assertThat(text).as(name).doesNotContain(SECRET));
        assertThat(files.get("doctor.txt")).contains(Redaction.MARK);
    }

    @Test
    void whatCannotBeReadIsNamedWithTheReason() throws Exception {
        bundle.collect(List.of(new Evidence("a.txt", () -> "fine\n"), new Evidence("b.txt", () -> {
            throw new IOException("permission denied");
        })));

        Map<String, String> files = unpacked();
        assertThat(files).containsOnlyKeys("MANIFEST.json", "a.txt");
        assertThat(manifest(files).array("files").objects().map(Json::write))
                .containsExactly("{\"file\":\"a.txt\",\"bytes\":5,\"redacted\":0}");
        assertThat(manifest(files).array("leftOut").objects().map(Json::write))
                .containsExactly("{\"file\":\"b.txt\",\"why\":\"permission denied\"}");
    }

    @Test
    void longFileIsCutAtALineAndLaterFilesAreLeftOutWhenTheBundleIsFull() throws Exception {
        String line = "0123456789abcdef".repeat(63) + "0123456\n"; // 1,016 bytes
        List<Evidence> all = Stream.iterate(0, i -> i < 20, i -> i + 1)
                .map(i -> new Evidence("long-" + i, () -> line.repeat(200)))
                .toList();

        bundle.collect(all);

        Map<String, String> files = unpacked();
        assertThat(files.get("long-0"))
                .hasSizeBetween(LIMITS.file() - 1_016, LIMITS.file())
                .endsWith("0123456\n");
        assertThat(files.values().stream().mapToInt(String::length).sum()).isLessThan(LIMITS.all() + 10_000);
        JsonObject manifest = manifest(files);
        assertThat(Json.write(manifest.array("files").objects().findFirst().orElseThrow()))
                .contains("\"cutOff\":\"only its beginning is here\"");
        assertThat(Json.write(manifest.array("leftOut").objects().findFirst().orElseThrow()))
                .contains("which is the limit");
    }

    @Test
    void secretAtTheCutIsNotCutInTwo() throws Exception {
        // given a key that begins just before the limit and ends behind it
        String filler = "x".repeat(79) + "\n";
        String text = filler.repeat(LIMITS.file() / 80 - 1) + "password: \"" + "s3cret".repeat(100) + "\"\n" + filler;

        bundle.collect(List.of(new Evidence("a.txt", () -> text)));

        assertThat(unpacked().get("a.txt")).doesNotContain("s3cret");
    }

    @Test
    void readThatHangsIsLeftOutAfterItsDeadline() throws Exception {
        bundle.collect(List.of(
                new Evidence("hangs", () -> new CompletableFuture<String>().get()),
                new Evidence("b.txt", () -> "b\n")));

        Map<String, String> files = unpacked();
        assertThat(files).containsOnlyKeys("MANIFEST.json", "b.txt");
        assertThat(files.get("MANIFEST.json")).contains("hangs did not answer within 5s");
    }

    @Test
    void existingFileIsNotOverwritten() throws Exception {
        Path file = Files.writeString(directory.resolve("there"), "mine");
        Path link = Files.createSymbolicLink(directory.resolve("link"), directory.resolve("nowhere"));

        for (Path each : List.of(file, link)) {
            assertThatThrownBy(() -> Bundle.write(each, new byte[] {1}))
                    .isInstanceOf(IOException.class)
                    .hasMessage(each + " exists; it is not overwritten");
        }
        assertThat(file).hasContent("mine");
        assertThat(directory.resolve("nowhere")).doesNotExist();
    }
}
