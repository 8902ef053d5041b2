package io.nodekeeper.it;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * A separate dockerd on a containerd of its own, with pods as Kubernetes' dockershim made them: containers with its labels and
 * names, on the host's network. Needs root. Closing it leaves nothing behind.
 */
public final class Dockerd implements AutoCloseable {
    private static final Duration READY = Duration.ofSeconds(60);

    private final Containerd containerd;
    private final Path directory;
    private final Path socket;
    private final Path log;
    private ProcessHandle process;

    /** A pod with one container. */
    record DockerPod(String name, String uid, String sandbox, String container) {}

    private Dockerd(Path base) throws Exception {
        Command.find("dockerd", "docker.io");
        Command.find("docker", "docker.io");
        containerd = Containerd.make(base, false);
        directory = Files.createDirectories(containerd.directory().resolve("docker"));
        socket = directory.resolve("docker.sock");
        log = directory.resolve("dockerd.log");
        try {
            containerd.start();
            process = launch();
            docker(
                    "load",
                    "-i",
                    BusyboxImages.archive(directory.resolve("images")).toString());
        } catch (Exception | Error e) {
            containerd.close();
            throw e;
        }
    }

    /** Starts one below a directory, and gives it the images. */
    static Dockerd start(Path base) throws Exception {
        return new Dockerd(base);
    }

    /** Its pods outlive it, as operators of Kubernetes nodes configure it. */
    private ProcessHandle launch() throws Exception {
        String pid = Command.ok(
                "sh",
                "-c",
                "out=$1; shift; \"$@\" >>\"$out\" 2>&1 & echo $!",
                "sh",
                log.toString(),
                Command.find("dockerd", "docker.io").toString(),
                "--host=unix://" + socket,
                "--containerd=" + containerd.socket(),
                "--data-root=" + directory.resolve("data"),
                "--exec-root=" + directory.resolve("exec"),
                "--pidfile=" + directory.resolve("dockerd.pid"),
                "--cgroup-parent=/" + containerd.name(),
                "--add-runtime=gated=" + containerd.runc().path(),
                "--default-runtime=gated",
                "--live-restore",
                "--iptables=false",
                "--bridge=none");
        ProcessHandle started = ProcessHandle.of(Long.parseLong(pid.strip())).orElseThrow();
        Eventually.within(READY, () -> {
            if (!started.isAlive()) {
                throw new AssertionError("dockerd ended: " + Files.readString(log));
            }
            return run(Duration.ofSeconds(5), "version").code() == 0;
        });
        return started;
    }

    private String[] command(String... arguments) {
        List<String> command =
                new ArrayList<>(List.of(Command.find("docker", "docker.io").toString(), "-H", "unix://" + socket));
        command.addAll(List.of(arguments));
        return command.toArray(String[]::new);
    }

    /** Runs its own client, and returns the last line of its output. */
    String docker(String... arguments) throws Exception {
        return Command.ok(command(arguments)).strip().lines().reduce("", (first, last) -> last);
    }

    /** Runs its own client for a limited time. */
    Command.Result run(Duration limit, String... arguments) throws Exception {
        return Command.run(limit, command(arguments));
    }

    /** Starts its own client without waiting for its end. */
    Process begin(String... arguments) throws Exception {
        return new ProcessBuilder(command(arguments))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    /** Starts that many pods, named with numbers. */
    List<DockerPod> pods(int count) throws Exception {
        List<DockerPod> pods = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            pods.add(pod("pod-" + i));
        }
        return pods;
    }

    /** Starts a pod. */
    DockerPod pod(String name) throws Exception {
        String uid = UUID.randomUUID().toString();
        String sandbox = container("POD", name, uid, "podsandbox", "", BusyboxImages.PAUSE);
        String container =
                container("main", name, uid, "container", sandbox, BusyboxImages.BUSYBOX, "sleep", "1000000");
        return new DockerPod(name, uid, sandbox, container);
    }

    private String container(
            String name, String pod, String uid, String type, String sandbox, String image, String... command)
            throws Exception {
        List<String> arguments = new ArrayList<>(List.of(
                "run",
                "-d",
                "--network=host",
                "--name=k8s_" + name + "_" + pod + "_default_" + uid + "_0",
                "--label=io.kubernetes.docker.type=" + type,
                "--label=io.kubernetes.container.name=" + name,
                "--label=io.kubernetes.pod.name=" + pod,
                "--label=io.kubernetes.pod.namespace=default",
                "--label=io.kubernetes.pod.uid=" + uid));
        if (!sandbox.isEmpty()) {
            arguments.add("--label=io.kubernetes.sandbox.id=" + sandbox);
        }
        arguments.add(image);
        arguments.addAll(List.of(command));
        return docker(arguments.toArray(String[]::new));
    }

    /** As flags take it. */
    String endpoint() {
        return "unix://" + socket;
    }

    /** Its containerd, which also has the shims. */
    Containerd containerd() {
        return containerd;
    }

    /** Sends it a signal: STOP, CONT. */
    void signal(String signal) throws Exception {
        Command.signal(process.pid(), signal);
    }

    long pid() {
        return process.pid();
    }

    /** Kills it and starts it again; its pods run on. */
    void restart() throws Exception {
        signal("KILL");
        Eventually.within(READY, () -> !process.isAlive());
        Files.deleteIfExists(directory.resolve("dockerd.pid"));
        process = launch();
    }

    @Override
    public void close() throws Exception {
        containerd.close();
        // Its images have links that lead out of the directory, about which JUnit warns.
        Command.ok("rm", "-rf", "--one-file-system", directory.toString());
    }
}
