package io.nodekeeper.agent.pods.sources;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Manifests in real files and behind a real URL. */
class ManifestSourcesTest {
    @TempDir
    Path directory;

    private ManifestSource source = new ManifestFiles(Path.of("/none"), "n1");

    @AfterEach
    void close() {
        source.close();
    }

    private static String pod(String name) {
        return """
                {apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {containers: [{name: c, image: i}]}}
                """.formatted(name);
    }

    private List<String> names() throws IOException {
        return source.read().stream().map(Pod::name).toList();
    }

    @Test
    void shouldReadTheFilesOfADirectoryAndSkipWhatAKubeletSkips() throws Exception {
        Files.writeString(directory.resolve("a.yaml"), pod("a"));
        Files.writeString(directory.resolve("b.json"), pod("b"));
        Files.writeString(directory.resolve(".hidden.yaml"), pod("hidden"));
        Files.createDirectory(directory.resolve("deeper"));
        Files.writeString(directory.resolve("deeper/c.yaml"), pod("c"));
        Files.writeString(directory.resolve("broken.yaml"), "{");
        Files.write(directory.resolve("huge.yaml"), new byte[ManifestFiles.MOST_BYTES + 1]);
        assertThat(new ProcessBuilder("mkfifo", directory.resolve("pipe").toString())
                        .start()
                        .waitFor())
                .isZero();
        source = new ManifestFiles(directory, "n1");

        assertThat(names()).containsExactly("a-n1", "b-n1");
    }

    @Test
    void shouldReadTheOtherFilesWhateverIsWrongWithOne() throws IOException {
        // given manifests that break what reads them
        Files.writeString(directory.resolve("a.yaml"), "exception");
        Files.writeString(directory.resolve("b.yaml"), "overflow");
        // and one whose nested aliases have 20,000 levels
        StringBuilder deep = new StringBuilder("a0: &a0 " + "[".repeat(199) + "]".repeat(199) + "\n");
        for (int i = 1; i < 100; i++) {
            deep.append("a" + i + ": &a" + i + " " + "[".repeat(199) + "*a" + (i - 1) + "]".repeat(199) + "\n");
        }
        Files.writeString(directory.resolve("c.yaml"), deep.toString());
        // and a good one
        Files.writeString(directory.resolve("d.yaml"), pod("d"));
        source = new ManifestFiles(directory, (file, text) -> switch (new String(text, UTF_8)) {
            case "exception" -> throw new IllegalStateException("of a test");
            case "overflow" -> throw new StackOverflowError();
            default -> new Manifest("n1", "file", file.toString()).pod(text);
        });

        // then the good one runs
        assertThat(names()).containsExactly("d-n1");
    }

    @Test
    void shouldReadOneFile() throws IOException {
        Path file = Files.writeString(directory.resolve("a.yaml"), pod("a"));
        source = new ManifestFiles(file, "n1");
        assertThat(names()).containsExactly("a-n1");

        Files.delete(file);
        assertThat(names()).isEmpty();
    }

    @Test
    void shouldHaveNoPodsWhereThePathIsMissing() throws IOException {
        source = new ManifestFiles(directory.resolve("none/deeper"), "n1");

        assertThat(names()).isEmpty();
    }

    @Test
    void shouldKeepWhatAFileSaidUntilItIsRightAgainOrGone() throws IOException {
        Path file = Files.writeString(directory.resolve("a.yaml"), pod("a"));
        source = new ManifestFiles(directory, "n1");
        assertThat(names()).containsExactly("a-n1");

        Files.writeString(file, "");
        assertThat(names()).containsExactly("a-n1");

        Files.writeString(file, pod("b"));
        assertThat(names()).containsExactly("b-n1");

        Files.delete(file);
        assertThat(names()).isEmpty();
    }

    @Test
    void shouldKeepThePodsOfAPathThatCannotBeRead() throws IOException {
        Path link = directory.resolve("manifests");
        Path real = Files.createDirectory(directory.resolve("real"));
        Files.writeString(real.resolve("a.yaml"), pod("a"));
        Files.createSymbolicLink(link, real);
        source = new ManifestFiles(link, "n1");
        assertThat(names()).containsExactly("a-n1");

        // A circle of links: an error that is not that the path is missing.
        Files.delete(link);
        Files.createSymbolicLink(link, link);

        assertThatThrownBy(this::names).isInstanceOf(IOException.class);
    }

    @Test
    void shouldReadNoMoreFilesThanItsLimit() throws IOException {
        for (int i = 0; i < ManifestFiles.MOST_FILES + 5; i++) {
            Files.writeString(directory.resolve(i + ".yaml"), pod("p" + i));
        }
        source = new ManifestFiles(directory, "n1");

        assertThat(names()).hasSize(ManifestFiles.MOST_FILES);
    }

    @Test
    void shouldBeToldOfAChangeAlsoAfterThePathWasMissing() throws Exception {
        Path path = directory.resolve("manifests");
        source = new ManifestFiles(path, "n1");
        assertThat(names()).isEmpty();

        Files.createDirectory(path);
        assertThat(isToldWithin(Duration.ofSeconds(10))).isTrue();
        assertThat(names()).isEmpty();

        Files.writeString(path.resolve("a.yaml"), pod("a"));
        assertThat(isToldWithin(Duration.ofSeconds(10))).isTrue();
        // The write is several events, of which some may come later.
        assertThat(isQuietWithin(Duration.ofSeconds(10))).isTrue();
        assertThat(names()).containsExactly("a-n1");
    }

    private boolean isQuietWithin(Duration time) throws InterruptedException {
        for (long end = System.nanoTime() + time.toNanos(); System.nanoTime() < end; Thread.sleep(20)) {
            if (!source.changed()) {
                return true;
            }
        }
        return false;
    }

    private boolean isToldWithin(Duration time) throws InterruptedException {
        for (long end = System.nanoTime() + time.toNanos(); System.nanoTime() < end; Thread.sleep(20)) {
            if (source.changed()) {
                return true;
            }
        }
        return false;
    }

    @Test
    void shouldReadAUrlWithItsHeaders() throws IOException {
        StringBuffer answer = new StringBuffer(pod("a"));
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] body = answer.toString().getBytes(UTF_8);
            boolean known = "here".equals(exchange.getRequestHeaders().getFirst("X-Who"));
            exchange.sendResponseHeaders(known ? 200 : 403, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/pods");
            source = new ManifestUrl(url, Map.of("X-Who", List.of("here")), "n1");
            assertThat(names()).containsExactly("a-n1");

            answer.replace(0, answer.length(), "{}");
            assertThatThrownBy(this::names).isInstanceOf(IOException.class).hasMessageContaining("expected apiVersion");

            ManifestUrl stranger = new ManifestUrl(url, Map.of(), "n1");
            assertThatThrownBy(stranger::read).isInstanceOf(IOException.class).hasMessageContaining("403");
            stranger.close();
        } finally {
            server.stop(0);
        }
    }

    @Test
    void readOfAUrlEndsAlsoWhenItsBodyDoesNotCome() throws Exception {
        // given a server that sends headers and the start of a body
        CountDownLatch over = new CountDownLatch(1);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 100);
            exchange.getResponseBody().write('{');
            exchange.getResponseBody().flush();
            try {
                over.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        server.start();
        source = new ManifestUrl(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/pods"), Map.of(), "n1");
        assertThat(source.deadline()).isEqualTo(Duration.ofSeconds(10));

        // when the only thread reads it with a deadline
        ThreadLoop loop = new ThreadLoop("deadlines");
        try (Workers workers = new Workers("manifests", 1, loop)) {
            CompletableFuture<List<Pod>> read = workers.call("pods", Duration.ofMillis(500), source::read);

            // then the read fails, and the thread is free again
            assertThat(read)
                    .failsWithin(Duration.ofSeconds(30))
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOf(DeadlineExceededException.class);
            assertThat(workers.call("another", Duration.ofSeconds(30), () -> "read"))
                    .succeedsWithin(Duration.ofSeconds(30))
                    .isEqualTo("read");
        } finally {
            loop.close();
            over.countDown();
            server.stop(0);
        }
    }
}
