package io.nodekeeper.it;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Two images that the test builds, so that it needs no registry: a sandbox's pause, which only sleeps, and
 * busybox with a shell.
 */
final class BusyboxImages {
    static final String PAUSE = "localhost/pause:1";
    static final String BUSYBOX = "localhost/busybox:1";

    private BusyboxImages() {}

    /** Writes both into one archive as {@code docker save} does, with {@code directory} as a place to work in. */
    static Path archive(Path directory) throws Exception {
        Path busybox = Command.find("busybox", "busybox-static");
        if (Files.readString(busybox, StandardCharsets.ISO_8859_1)
                .substring(0, 4096)
                .contains("/ld-linux")) {
            throw Command.missing("A busybox without shared libraries", "busybox-static");
        }
        Path work = Files.createDirectories(directory);
        Path root = Files.createDirectories(work.resolve("root"));
        Path bin = Files.createDirectories(root.resolve("bin"));
        Files.copy(busybox, bin.resolve("busybox"));
        Files.createSymbolicLink(bin.resolve("sleep"), Path.of("busybox"));
        layer(work, "pause.tar");
        for (String name : new String[] {"sh", "cat", "touch", "dd", "tar", "nc", "stty"}) {
            Files.createSymbolicLink(bin.resolve(name), Path.of("busybox"));
        }
        Files.createDirectories(root.resolve("tmp"));
        Files.createDirectories(root.resolve("data"));
        layer(work, "busybox.tar");

        String pause = config(work, "pause.tar", "[\"/bin/sleep\", \"1000000000\"]");
        String box = config(work, "busybox.tar", "[]");
        Files.writeString(
                work.resolve("manifest.json"),
                "[" + entry(pause, PAUSE, "pause.tar") + ", " + entry(box, BUSYBOX, "busybox.tar") + "]");
        Path archive = work.resolve("images.tar");
        Command.ok(
                "tar",
                "-cf",
                archive.toString(),
                "-C",
                work.toString(),
                "manifest.json",
                pause,
                box,
                "pause.tar",
                "busybox.tar");
        return archive;
    }

    /** Writes an archive with one more image, {@code tag}: a shell, and a file of that many MiB that no compression shortens. */
    static Path filled(Path directory, String tag, int mebibytes) throws Exception {
        Path work = Files.createDirectories(directory);
        Path bin = Files.createDirectories(work.resolve("root/bin"));
        Files.copy(Command.find("busybox", "busybox-static"), bin.resolve("busybox"));
        for (String name : new String[] {"sh", "sleep"}) {
            Files.createSymbolicLink(bin.resolve(name), Path.of("busybox"));
        }
        byte[] random = new byte[mebibytes << 20];
        ThreadLocalRandom.current().nextBytes(random);
        Files.write(work.resolve("root/file"), random);
        layer(work, "layer.tar");
        String config = config(work, "layer.tar", "[]");
        Files.writeString(work.resolve("manifest.json"), "[" + entry(config, tag, "layer.tar") + "]");
        Path archive = work.resolve("image.tar");
        Command.ok("tar", "-cf", archive.toString(), "-C", work.toString(), "manifest.json", config, "layer.tar");
        return archive;
    }

    private static void layer(Path work, String name) throws Exception {
        Command.ok(
                "tar",
                "--owner=0",
                "--group=0",
                "-cf",
                work.resolve(name).toString(),
                "-C",
                work.resolve("root").toString(),
                ".");
    }

    private static String config(Path work, String layer, String entrypoint) throws Exception {
        String json = """
                {"architecture": "%s", "os": "linux", "created": "2020-01-01T00:00:00Z",
                 "config": {"Entrypoint": %s, "Env": ["PATH=/bin"]},
                 "rootfs": {"type": "layers", "diff_ids": ["sha256:%s"]},
                 "history": [{"created_by": "it"}]}
                """.formatted(
                        System.getProperty("os.arch").replace("aarch64", "arm64"),
                        entrypoint,
                        sha256(Files.readAllBytes(work.resolve(layer))));
        String name = sha256(json.getBytes(StandardCharsets.UTF_8)) + ".json";
        Files.writeString(work.resolve(name), json);
        return name;
    }

    private static String entry(String config, String tag, String layer) {
        return "{\"Config\": \"%s\", \"RepoTags\": [\"%s\"], \"Layers\": [\"%s\"]}".formatted(config, tag, layer);
    }

    private static String sha256(byte[] bytes) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }
}
