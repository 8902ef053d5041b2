package io.nodekeeper.store.etcd;

import java.io.IOException;
import java.net.BindException;
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
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A real etcd cluster on loopback, whose members can be frozen, thawed, killed and restarted. Not thread-safe. Depends
 * only on the JDK, so that tests of other modules can use it.
 */
public final class EtcdCluster implements AutoCloseable {
    private static final Duration HEALTHY = Duration.ofSeconds(60);
    /**
     * The next port to try, below those that the kernel gives to others between the choice of a port and the start of its member; they
     * begin at 32768. Each is given once, and other tests choose theirs elsewhere.
     */
    private static final AtomicInteger NEXT_PORT =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(24_000, 29_000));

    private final Path directory;
    private final List<Integer> clientPorts;
    private final List<Integer> peerPorts;
    private final List<Process> members = new ArrayList<>();

    private EtcdCluster(Path directory, int size) throws IOException {
        this.directory = directory;
        List<Integer> ports = freePorts(2 * size);
        clientPorts = ports.subList(0, size);
        peerPorts = ports.subList(size, 2 * size);
    }

    /** Starts {@code size} members with their data in {@code directory}. Returns when they have a leader. */
    public static EtcdCluster start(Path directory, int size) throws Exception {
        EtcdCluster cluster = new EtcdCluster(Files.createDirectories(directory), size);
        try {
            for (int member = 0; member < size; member++) {
                cluster.members.add(cluster.run(member));
            }
            for (int member = 0; member < size; member++) {
                cluster.awaitHealth(member);
            }
        } catch (Exception | Error e) {
            cluster.close();
            throw e;
        }
        return cluster;
    }

    /** The endpoints of the members. */
    public List<URI> servers() {
        return clientPorts.stream().map(EtcdCluster::address).toList();
    }

    /** The flag of the API server with these endpoints. */
    public String serversFlag() {
        return servers().stream().map(URI::toString).collect(Collectors.joining(",", "--etcd-servers=", ""));
    }

    /** Runs etcdctl with {@code arguments} at a member, and returns its output. */
    public String ctl(int member, String... arguments) throws Exception {
        Path out = Files.createTempFile(directory, "ctl", ".out");
        int code = runCtl(member, out, arguments);
        if (code != 0) {
            throw new AssertionError(
                    "etcdctl " + String.join(" ", arguments) + " ended with " + code + ": " + Files.readString(out));
        }
        return Files.readString(out);
    }

    /** As {@link #ctl}, and returns its output also if it fails. */
    public String tryCtl(int member, String... arguments) throws Exception {
        Path out = Files.createTempFile(directory, "ctl", ".out");
        runCtl(member, out, arguments);
        return Files.readString(out);
    }

    private int runCtl(int member, Path out, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                "etcdctl",
                "--endpoints=127.0.0.1:" + clientPorts.get(member),
                "--dial-timeout=20s",
                "--command-timeout=25s"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("ETCDCTL_API", "3");
        Process process =
                builder.redirectErrorStream(true).redirectOutput(out.toFile()).start();
        if (!process.waitFor(30, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
        return process.waitFor();
    }

    /** Freezes a member: it keeps its connections and does not respond. */
    public void freeze(int member) throws Exception {
        signal(member, "STOP");
    }

    /** Thaws a frozen member. */
    public void thaw(int member) throws Exception {
        signal(member, "CONT");
    }

    private void signal(int member, String name) throws Exception {
        String pid = Long.toString(members.get(member).pid());
        int code = new ProcessBuilder("kill", "-" + name, pid).start().waitFor();
        if (code != 0) {
            throw new AssertionError("kill -" + name + " " + pid + " ended with " + code);
        }
    }

    /** Kills a member with SIGKILL. */
    public void kill(int member) throws Exception {
        members.get(member).destroyForcibly().waitFor();
    }

    /** Restarts a killed member with its data. Returns when it is healthy. */
    public void restart(int member) throws Exception {
        members.set(member, run(member));
        awaitHealth(member);
    }

    /** Kills all members, and starts them without their data, as a restore of an empty snapshot does. */
    public void startOver() throws Exception {
        close();
        for (int member = 0; member < members.size(); member++) {
            try (Stream<Path> files = Files.walk(directory.resolve("m" + member))) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
        for (int member = 0; member < members.size(); member++) {
            members.set(member, run(member));
        }
        for (int member = 0; member < members.size(); member++) {
            awaitHealth(member);
        }
    }

    private Process run(int member) throws IOException {
        String peers = IntStream.range(0, peerPorts.size())
                .mapToObj(i -> "m" + i + "=" + address(peerPorts.get(i)))
                .collect(Collectors.joining(","));
        URI client = address(clientPorts.get(member));
        URI peer = address(peerPorts.get(member));
        ProcessBuilder builder = new ProcessBuilder(
                "etcd",
                "--name=m" + member,
                "--data-dir=" + directory.resolve("m" + member),
                "--listen-client-urls=" + client,
                "--advertise-client-urls=" + client,
                "--listen-peer-urls=" + peer,
                "--initial-advertise-peer-urls=" + peer,
                "--initial-cluster=" + peers,
                "--logger=zap",
                "--log-outputs=stderr");
        builder.redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log(member).toFile()));
        try {
            Process process = builder.start();
            // An interrupted test run must not leave processes behind.
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "kill etcd " + member));
            return process;
        } catch (IOException e) {
            throw new IllegalStateException(
                    "etcd is missing; install it (Debian: apt-get install --no-install-recommends etcd-server), or run"
                            + " ./test, which does",
                    e);
        }
    }

    private void awaitHealth(int member) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(
                        address(clientPorts.get(member)).resolve("/health"))
                .timeout(Duration.ofSeconds(2))
                .build();
        long end = System.nanoTime() + HEALTHY.toNanos();
        try (HttpClient client = HttpClient.newHttpClient()) {
            while (!isHealthy(client, request)) {
                if (!members.get(member).isAlive() || System.nanoTime() > end) {
                    throw new AssertionError("etcd did not become healthy: " + Files.readString(log(member)));
                }
                Thread.sleep(20);
            }
        }
    }

    private static boolean isHealthy(HttpClient client, HttpRequest request) throws InterruptedException {
        try {
            return client.send(request, HttpResponse.BodyHandlers.ofString())
                    .body()
                    .contains("true");
        } catch (IOException e) {
            // Not yet.
            return false;
        }
    }

    private Path log(int member) {
        return directory.resolve("m" + member + ".log");
    }

    private static URI address(int port) {
        return URI.create("http://127.0.0.1:" + port);
    }

    private static List<Integer> freePorts(int count) throws IOException {
        List<Integer> ports = new ArrayList<>();
        while (ports.size() < count) {
            int port = NEXT_PORT.getAndIncrement();
            try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                ports.add(socket.getLocalPort());
            } catch (BindException e) {
                // Another process has it.
            }
        }
        return ports;
    }

    @Override
    public void close() {
        // SIGKILL also ends a frozen process. Its files are in use until it has exited.
        members.forEach(member -> member.destroyForcibly().onExit().join());
    }
}
