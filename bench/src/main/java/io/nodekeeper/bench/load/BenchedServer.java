package io.nodekeeper.bench.load;

import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.client.config.ServerAccess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** An API server in a separate process, with a separate data directory. Used by one thread. */
final class BenchedServer implements AutoCloseable {
    /** The longest wait for the start: it takes a second or two, but the first one may build and learn class data. */
    private static final long START_SECONDS = 120;

    private final Process process;
    private final Path data;
    private final Path log;

    private BenchedServer(Process process, Path data, Path log) {
        this.process = process;
        this.data = data;
        this.log = log;
    }

    /**
     * Starts {@code command apiserver} with {@code flags} and its data below {@code directory}; returns once its port is
     * known.
     */
    static BenchedServer start(List<String> command, Path directory, List<String> flags) throws Exception {
        Path data = directory.resolve("data");
        Path log = directory.resolve("apiserver.log");
        List<String> line = new ArrayList<>(command);
        line.addAll(List.of(
                "apiserver", "--bind-address", "127.0.0.1", "--secure-port", "0", "--data-dir", data.toString()));
        line.addAll(flags);
        Process process = new ProcessBuilder(line)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        BenchedServer server = new BenchedServer(process, data, log);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        // The controller's kubeconfig is written last.
        while (!Files.exists(server.controllerKubeconfig())) {
            if (!process.isAlive() || System.nanoTime() > end) {
                server.close();
                throw new IOException("the API server did not start: " + Files.readString(log));
            }
            Thread.sleep(50);
        }
        return server;
    }

    long pid() {
        return process.pid();
    }

    /** The kubeconfig of the controller. */
    Path controllerKubeconfig() {
        return data.resolve("controller.kubeconfig");
    }

    /** Access as administrator. */
    ServerAccess access() {
        return Kubeconfig.load(data.resolve("admin.kubeconfig"));
    }

    /** The server's output. */
    String output() throws IOException {
        return Files.readString(log);
    }

    /** Bytes on disk below its data directory. */
    long diskBytes() throws IOException {
        try (var files = Files.walk(data)) {
            return files.filter(Files::isRegularFile)
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        }
    }

    @Override
    public void close() {
        stop(process);
    }

    /** Asks {@code process} to exit, and kills it if it does not. */
    static void stop(Process process) {
        process.destroy();
        try {
            if (!process.waitFor(20, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
