package io.nodekeeper.it.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.it.Command;
import io.nodekeeper.it.Containerd;
import io.nodekeeper.it.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** The image that {@code scripts/image} writes, imported and run by a real containerd. */
@Tag("long")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.MethodName.class)
class ImageIT {
    private static final String VERSION = "1.2.3";
    private static final String IMAGE = "docker.io/library/nodekeeper:" + VERSION;
    private static final String JAVA = "/usr/lib/nodekeeper/runtime/bin/java";
    private static final Duration BUILD = Duration.ofMinutes(5);
    private static final Duration RUN = Duration.ofSeconds(120);

    @TempDir
    static Path directory;

    private Path archive;
    private Containerd containerd;

    @BeforeAll
    void importImage() throws Exception {
        archive = build("image.tar");
        containerd = Containerd.make(directory.resolve("containerd"), false);
        containerd.start();
        assertThat(ctr("images", "import", archive.toString())).contains("unpacking " + IMAGE);
    }

    @AfterAll
    void stop() throws Exception {
        if (containerd != null) {
            containerd.close();
        }
    }

    @Test
    void twoBuildsAreEqual() throws Exception {
        Path again = build("again.tar");

        assertThat(Files.mismatch(archive, again)).as("first different byte").isEqualTo(-1);
    }

    @Test
    void defaultCommandShowsTheUsage() throws Exception {
        assertThat(run("usage")).startsWith("Usage: nodekeeper");
    }

    @Test
    void imageHasNoShell() throws Exception {
        assertThat(start("shell", "/bin/sh", "-c", "true").output()).contains("no such file or directory");
    }

    @Test
    void configurationSaysWhatTheImageIs() throws Exception {
        String config = blobWith("\"Entrypoint\"");

        assertThat(config)
                .contains("\"User\":\"65532:65532\"")
                .contains("\"Entrypoint\":[\"" + JAVA + "\",\"@/usr/lib/nodekeeper/args/container\"]")
                .contains("\"org.opencontainers.image.version\":\"" + VERSION + "\"")
                .contains("\"org.opencontainers.image.licenses\":\"Apache-2.0\"")
                .containsPattern("\"io.nodekeeper.packages\":\"[^\"]*libc6=[^\"]*\"");
    }

    @Test
    void billOfMaterialsNamesTheJars() throws Exception {
        String bom = Files.readString(Path.of(archive + ".bom.json"));

        assertThat(Json.parse(bom).toString())
                .contains("CycloneDX", "rocksdbjni", "netty-transport", "logback-classic");
    }

    @Test
    void serverAndControllerRunWithoutRootAndWithoutWritingToTheImage() throws Exception {
        // Given a directory that the image's user may write, as an emptyDir with fsGroup is.
        Path data = Files.createDirectory(directory.resolve("data"));
        Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxrwxrwx"));

        long began = System.nanoTime();
        String server =
                runInBackground("server", data, "apiserver", "apiserver", "--data-dir", "/data", "--secure-port=0");
        long serverReady = System.nanoTime() - began;
        began = System.nanoTime();
        runInBackground(
                "controller",
                data,
                "container",
                "controller",
                "--kubeconfig=/data/controller.kubeconfig",
                "--controller-bind-address=0",
                "--leader-elect=false");
        long controllerReady = System.nanoTime() - began;

        // Then both are ready, as the image's user.
        assertThat(server).startsWith("ready https://127.0.0.1:");
        System.out.printf(
                Locale.ROOT,
                "image: %d MiB; ready after %.1f s (API server), %.1f s (controller); resident %d MB, %d MB%n",
                Files.size(archive) >> 20,
                serverReady / 1e9,
                controllerReady / 1e9,
                status("server", "VmRSS") / 1000,
                status("controller", "VmRSS") / 1000);
        assertThat(status("server", "Uid")).isEqualTo(65532);
        assertThat(status("controller", "Uid")).isEqualTo(65532);
        for (String name : List.of("server", "controller")) {
            ctr("task", "kill", "--signal", "TERM", name);
            Eventually.within(RUN, () -> taskOf(name).contains("STOPPED"));
            ctr("task", "rm", name);
        }
    }

    private static Path build(String file) throws Exception {
        Path target = directory.resolve(file);
        Command.Result result = Command.run(
                BUILD,
                Repository.root().resolve("scripts/image").toString(),
                "--version",
                VERSION,
                "--dist",
                Repository.dist().toString(),
                target.toString());
        assertThat(result.code()).as(result.output()).isZero();
        assertThat(result.output()).contains(IMAGE);
        return target;
    }

    /** A small file of the image that contains {@code text}. */
    private String blobWith(String text) throws Exception {
        Path layout = Files.createTempDirectory(directory, "layout");
        Command.ok("tar", "-xf", archive.toString(), "-C", layout.toString());
        for (String name :
                Command.ok("ls", layout.resolve("blobs/sha256").toString()).split("\n")) {
            Path blob = layout.resolve("blobs/sha256").resolve(name);
            if (Files.size(blob) < 1 << 20 && Files.readString(blob).contains(text)) {
                return Files.readString(blob);
            }
        }
        throw new AssertionError("no blob of the image contains " + text);
    }

    /** Of these containers alone: their ids are used again in the next run. */
    private String runcRoot() {
        return containerd.directory().resolve("runc-of-ctr").toString();
    }

    private String ctr(String... arguments) throws Exception {
        Command.Result result = containerd.ctr(RUN, arguments);
        assertThat(result.code()).as(result.output()).isZero();
        return result.output();
    }

    /** Runs the image, with what the image itself says if {@code command} is empty. */
    private Command.Result start(String id, String... command) throws Exception {
        List<String> all = new ArrayList<>(
                List.of("run", "--rm", "--net-host", "--read-only", "--runc-root", runcRoot(), IMAGE, id));
        all.addAll(List.of(command));
        return containerd.ctr(RUN, all.toArray(String[]::new));
    }

    private String run(String id, String... command) throws Exception {
        Command.Result result = start(id, command);
        assertThat(result.code()).as(result.output()).isZero();
        return result.output();
    }

    /** Runs it with {@code data} as /data until it is ready; returns the ready line of a server. */
    private String runInBackground(String id, Path data, String args, String... command) throws Exception {
        Path log = directory.resolve(id + ".log");
        List<String> all =
                new ArrayList<>(List.of("run", "--detach", "--net-host", "--read-only", "--runc-root", runcRoot()));
        all.addAll(List.of("--log-uri", "file://" + log));
        all.addAll(List.of("--mount", "type=bind,src=" + data + ",dst=/data,options=rbind:rw"));
        all.addAll(List.of(IMAGE, id, JAVA, "@/usr/lib/nodekeeper/args/" + args));
        all.addAll(List.of(command));
        ctr(all.toArray(String[]::new));
        try {
            if (args.equals("container")) {
                ReadyPage.await(() -> Files.readString(log));
            } else {
                Eventually.within(RUN, () -> !readyLine(log).isEmpty());
            }
        } catch (AssertionError e) {
            throw new AssertionError(id + " is not ready: " + Files.readString(log), e);
        }
        return readyLine(log);
    }

    private static String readyLine(Path log) throws IOException {
        return Files.readString(log)
                .lines()
                .filter(line -> line.startsWith("ready"))
                .findFirst()
                .orElse("");
    }

    private String taskOf(String id) throws Exception {
        return ctr("task", "list")
                .lines()
                .filter(line -> line.startsWith(id + " "))
                .findFirst()
                .orElse("");
    }

    /** The first number of a line in the process' status. */
    private long status(String id, String key) throws Exception {
        String pid = taskOf(id).trim().split("\\s+")[1];
        return Files.readAllLines(Path.of("/proc", pid, "status")).stream()
                .filter(line -> line.startsWith(key + ":"))
                .map(line -> Long.parseLong(line.split("\\s+")[1]))
                .findFirst()
                .orElseThrow();
    }
}
