package io.nodekeeper.it;

import io.nodekeeper.cri.UnixServer;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A process of {@link CsiDriverMain}, which is killed at the end. */
final class CsiDriver implements AutoCloseable {
    private final Process process;
    private final Path directory;

    private CsiDriver(Process process, Path directory) {
        this.process = process;
        this.directory = directory;
    }

    /** Starts the driver {@code name} at {@code socket}, with volumes in {@code directory}. */
    static CsiDriver start(String name, Path socket, Path directory) throws IOException, URISyntaxException {
        Files.createDirectories(directory);
        Path lib = Path.of(System.getProperty("nodekeeper.dist", "../dist/target/nodekeeper"), "lib");
        String jars;
        try (Stream<Path> files = Files.list(lib)) {
            jars = files.map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        }
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx64m",
                        "-cp",
                        String.join(File.pathSeparator, jars, place(CsiDriverMain.class), place(UnixServer.class)),
                        CsiDriverMain.class.getName(),
                        name,
                        socket.toString(),
                        directory.toString()))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "kill " + name));
        return new CsiDriver(process, directory);
    }

    private static String place(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString();
    }

    /** The calls to it and to those before it in this directory, one on each line. */
    String calls() throws IOException {
        Path file = directory.resolve("calls");
        return Files.exists(file) ? Files.readString(file) : "";
    }

    /** From now on it does not answer the publishing of that volume. */
    void hang(String handle) throws IOException {
        Files.createFile(directory.resolve("hang-" + handle));
    }

    /** It answers again, except what it was asked before. */
    void recover(String handle) throws IOException {
        Files.delete(directory.resolve("hang-" + handle));
    }

    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly();
        if (!process.waitFor(20, TimeUnit.SECONDS)) {
            throw new IllegalStateException("process " + process.pid() + " did not end within 20 s");
        }
    }
}
