package io.nodekeeper.store.etcd;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A real etcd of some members on loopback, with its data in a directory that goes when it is closed. */
public final class EtcdCluster implements AutoCloseable {
    private static final Duration START = Duration.ofSeconds(30);

    private final Path directory;
    private final List<Integer> clients;
    private final List<Integer> peers;
    private final List<Optional<Process>> processes = new ArrayList<>();

    private EtcdCluster(int size) throws IOException {
        directory = Files.createTempDirectory("etcd");
        List<Integer> ports = freePorts(2 * size);
        clients = ports.subList(0, size);
        peers = ports.subList(size, 2 * size);
    }

    /** Starts a cluster of {@code size} members, and returns when it has a leader. */
    public static EtcdCluster start(int size) throws Exception {
        EtcdCluster cluster = new EtcdCluster(size);
        try {
            for (int i = 0; i < size; i++) {
                cluster.processes.add(Optional.of(cluster.launch(i)));
            }
            cluster.awaitHealth(0);
            return cluster;
        } catch (Exception | AssertionError e) {
            cluster.close();
            throw e;
        }
    }

    private static List<Integer> freePorts(int count) throws IOException {
        List<ServerSocket> held = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                held.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            }
            return held.stream().map(ServerSocket::getLocalPort).toList();
        } finally {
            for (ServerSocket socket : held) {
                socket.close();
            }
        }
    }

    private Process launch(int member) throws IOException {
        String all = IntStream.range(0, clients.size())
                .mapToObj(i -> "m" + i + "=http://127.0.0.1:" + peers.get(i))
                .collect(Collectors.joining(","));
        String client = "http://127.0.0.1:" + clients.get(member);
        String peer = "http://127.0.0.1:" + peers.get(member);
        ProcessBuilder builder = new ProcessBuilder(
                "etcd",
                "--name=m" + member,
                "--data-dir=" + directory.resolve("m" + member),
                "--listen-client-urls=" + client,
                "--advertise-client-urls=" + client,
                "--listen-peer-urls=" + peer,
                "--initial-advertise-peer-urls=" + peer,
                "--initial-cluster=" + all,
                "--initial-cluster-state=new",
                "--log-level=error");
        builder.redirectErrorStream(true)
                .redirectOutput(directory.resolve("m" + member + ".log").toFile());
        try {
            return builder.start();
        } catch (IOException e) {
            throw new AssertionError("the test needs the program etcd (Debian: apt-get install etcd-server)", e);
        }
    }

    /** Waits until the member serves and knows a leader. */
    private void awaitHealth(int member) throws Exception {
        long end = System.nanoTime() + START.toNanos();
        while (!ctl(member, "endpoint", "health").contains("is healthy")) {
            if (System.nanoTime() > end) {
                throw new AssertionError(
                        "etcd did not become healthy: " + Files.readString(directory.resolve("m" + member + ".log")));
            }
            Thread.sleep(100);
        }
    }

    /** What etcdctl prints when it runs {@code arguments} at a member. */
    public String ctl(int member, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("etcdctl", "--endpoints=127.0.0.1:" + clients.get(member)));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("ETCDCTL_API", "3");
        Path out = Files.createTempFile(directory, "ctl", ".out");
        Process process =
                builder.redirectErrorStream(true).redirectOutput(out.toFile()).start();
        if (!process.waitFor(15, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
        return Files.readString(out);
    }

    /** Where clients find the members. */
    public List<URI> servers() {
        return clients.stream()
                .map(port -> URI.create("http://127.0.0.1:" + port))
                .toList();
    }

    /** Stops a member's process in its tracks; it keeps its connections and answers nothing. */
    public void freeze(int member) throws Exception {
        signal(member, "STOP");
    }

    /** Has a frozen member go on. */
    public void thaw(int member) throws Exception {
        signal(member, "CONT");
    }

    private void signal(int member, String signal) throws Exception {
        long pid = processes.get(member).orElseThrow().pid();
        new ProcessBuilder("kill", "-" + signal, Long.toString(pid)).start().waitFor();
    }

    /** Ends a member as a power cut does. */
    public void kill(int member) throws Exception {
        Process process = processes.set(member, Optional.empty()).orElseThrow();
        process.destroyForcibly().waitFor();
    }

    /** Starts a member again that was killed. */
    public void restart(int member) throws Exception {
        processes.set(member, Optional.of(launch(member)));
        awaitHealth(member);
    }

    @Override
    public void close() throws IOException, InterruptedException {
        for (Optional<Process> process : processes) {
            if (process.isPresent()) {
                process.get().destroyForcibly().waitFor();
            }
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
