package io.nodekeeper.it;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Real etcd members on loopback, each of which can be frozen, thawed, killed and started again. Used by one thread.
 */
final class EtcdCluster implements AutoCloseable {
    private static final Duration HEALTHY = Duration.ofSeconds(60);

    private final Path directory;
    private final List<Integer> clientPorts;
    private final List<Integer> peerPorts;
    private final List<Process> members = new ArrayList<>();

    private EtcdCluster(Path directory, int count) throws IOException {
        this.directory = directory;
        List<Integer> ports = freePorts(2 * count);
        clientPorts = ports.subList(0, count);
        peerPorts = ports.subList(count, 2 * count);
    }

    /** Starts {@code count} members with their data below {@code directory}; returns when they have a leader. */
    static EtcdCluster start(Path directory, int count) throws Exception {
        EtcdCluster cluster = new EtcdCluster(Files.createDirectories(directory), count);
        try {
            for (int member = 0; member < count; member++) {
                cluster.members.add(cluster.run(member));
            }
            for (int member = 0; member < count; member++) {
                cluster.awaitHealth(member);
            }
        } catch (Exception | Error e) {
            cluster.close();
            throw e;
        }
        return cluster;
    }

    /** The value of {@code --etcd-servers}. */
    String servers() {
        return clientPorts.stream().map(port -> "http://127.0.0.1:" + port).collect(Collectors.joining(","));
    }

    /** SIGSTOP. */
    void freeze(int member) throws Exception {
        Command.signal(members.get(member).pid(), "STOP");
    }

    /** SIGCONT. */
    void thaw(int member) throws Exception {
        Command.signal(members.get(member).pid(), "CONT");
    }

    /** SIGKILL. */
    void kill(int member) throws Exception {
        members.get(member).destroyForcibly().waitFor();
    }

    /** Starts a killed member again on its data; returns when it takes part. */
    void restart(int member) throws Exception {
        members.set(member, run(member));
        awaitHealth(member);
    }

    int size() {
        return members.size();
    }

    private Process run(int member) throws IOException {
        String peers = IntStream.range(0, peerPorts.size())
                .mapToObj(i -> "m" + i + "=http://127.0.0.1:" + peerPorts.get(i))
                .collect(Collectors.joining(","));
        String client = "http://127.0.0.1:" + clientPorts.get(member);
        String peer = "http://127.0.0.1:" + peerPorts.get(member);
        Process process = new ProcessBuilder(
                        Command.find("etcd", "etcd-server").toString(),
                        "--name=m" + member,
                        "--data-dir=" + directory.resolve("m" + member),
                        "--listen-client-urls=" + client,
                        "--advertise-client-urls=" + client,
                        "--listen-peer-urls=" + peer,
                        "--initial-advertise-peer-urls=" + peer,
                        "--initial-cluster=" + peers,
                        "--logger=zap",
                        "--log-outputs=stderr")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.resolve("m" + member + ".log").toFile()))
                .start();
        // A run that is broken off leaves nothing behind, least of all stopped processes.
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "kill etcd " + member));
        return process;
    }

    private void awaitHealth(int member) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + clientPorts.get(member) + "/health"))
                .timeout(Duration.ofSeconds(2))
                .build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            Eventually.within(HEALTHY, () -> {
                if (!members.get(member).isAlive()) {
                    throw new AssertionError(
                            "etcd ended: " + Files.readString(directory.resolve("m" + member + ".log")));
                }
                try {
                    return client.send(request, HttpResponse.BodyHandlers.ofString())
                            .body()
                            .contains("true");
                } catch (IOException e) {
                    // Not yet.
                    return false;
                }
            });
        }
    }

    private static List<Integer> freePorts(int count) throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            }
            return sockets.stream().map(ServerSocket::getLocalPort).toList();
        } finally {
            for (ServerSocket socket : sockets) {
                socket.close();
            }
        }
    }

    @Override
    public void close() {
        // SIGKILL ends a stopped process too.
        members.forEach(Process::destroyForcibly);
    }
}
