package io.nodekeeper.it;

import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.nodekeeper.cri.CriChannels;
import io.nodekeeper.cri.v1.RuntimeServiceGrpc;
import io.nodekeeper.cri.v1.StatusRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * A separate containerd below a directory, with images, a pod network of its own (a bridge that only its pods are on), and
 * gates in front of runc and of the CNI plugin. Several can run at once. Needs root. Closing it leaves nothing behind: no
 * process, mount, bridge, control group or loop device.
 */
public final class Containerd implements AutoCloseable {
    private static final Duration READY = Duration.ofSeconds(60);
    /** How long the calls of a calm node are watched: lists and the statistics of each container come in it. */
    private static final Duration WATCHED = Duration.ofSeconds(10);
    /** The smallest quota that the kernel knows. */
    private static final Duration QUOTA = Duration.ofMillis(1);

    private static final double ENOUGH = 1.5;
    private static final Duration SHORTEST = Duration.ofMillis(20);
    private static final Duration LONGEST = Duration.ofMillis(400);
    private static final Path PLUGINS = Path.of("/usr/lib/cni");
    /** Where libcni keeps what plugins answered, and shims their sockets; neither can be configured in containerd 1.6. */
    private static final Path CNI_RESULTS = Path.of("/var/lib/cni/results");

    private final Path directory;
    /** Of the bridge, of the network and of the control groups. At most 15 characters, as it names an interface. */
    private final String name =
            "nk" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());

    private final Path socket;
    private final Path log;
    private final Path data;
    private final Path network;
    private final Gate runc;
    private final Gate cni;
    private final CpuLimit cpu;
    /** The share of one processor that its calls need, as last measured. */
    private double need;

    private final Leftovers leftovers;
    private final Optional<LoopDisk> disk;
    private final Optional<SystemdMachine> machine;
    private final Thread lastResort = new Thread(this::releaseAtLast, "end containerd");

    /** Alone on its bridge, so that all may have the same. */
    private String addresses = "\"ipam\": {\"type\": \"host-local\", \"subnet\": \"10.88.0.0/16\"";

    private Optional<ProcessHandle> process = Optional.empty();

    private Containerd(Path directory, boolean ownDisk, Optional<SystemdMachine> machine) throws Exception {
        this.machine = machine;
        Command.find("containerd", "containerd");
        for (String plugin : List.of("bridge", "host-local", "loopback")) {
            if (!Files.isExecutable(PLUGINS.resolve(plugin))) {
                throw Command.missing(PLUGINS.resolve(plugin).toString(), "containernetworking-plugins");
            }
        }
        this.directory = Files.createDirectories(directory).toRealPath();
        socket = this.directory.resolve("containerd.sock");
        log = this.directory.resolve("containerd.log");
        data = this.directory.resolve("data");
        network = Files.createDirectories(this.directory.resolve("net.d")).resolve("10-bridge.conflist");
        leftovers = new Leftovers(this.directory, name);
        Path bin = Files.createDirectories(this.directory.resolve("bin"));
        for (String plugin : List.of("host-local", "loopback")) {
            Files.copy(PLUGINS.resolve(plugin), bin.resolve(plugin), StandardCopyOption.COPY_ATTRIBUTES);
        }
        cni = Gate.cni(bin.resolve("bridge"), PLUGINS.resolve("bridge"));
        runc = Gate.runc(bin.resolve("runc"), Command.find("runc", "runc"));
        Files.writeString(this.directory.resolve("config.toml"), config());
        restoreNetwork();
        disk = ownDisk ? Optional.of(LoopDisk.mount(this.directory.resolve("disk.img"), data)) : Optional.empty();
        cpu = new CpuLimit(name + "-cpu");
        Runtime.getRuntime().addShutdownHook(lastResort);
    }

    /** Prepares one without starting it and without images; with a separate disk if it will be frozen. */
    public static Containerd make(Path directory, boolean ownDisk) throws Exception {
        return new Containerd(directory, ownDisk, Optional.empty());
    }

    /** Makes one, starts it, and gives it the images. */
    static Containerd start(Path directory, boolean ownDisk) throws Exception {
        return start(make(directory, ownDisk));
    }

    /** The same in a machine of its own, where systemd makes the cgroups. */
    static Containerd startIn(SystemdMachine machine, Path directory) throws Exception {
        return start(new Containerd(directory, false, Optional.of(machine)));
    }

    private static Containerd start(Containerd containerd) throws Exception {
        try {
            containerd.start();
            containerd.importImages();
            return containerd;
        } catch (Exception | Error e) {
            containerd.close();
            throw e;
        }
    }

    /** Makes the cgroup in which an agent of its own may make those of pods; the end of the runtime removes it. */
    public String cgroup() throws IOException {
        for (Path hierarchy : Leftovers.hierarchies()) {
            Files.createDirectories(hierarchy.resolve(name));
        }
        return "/" + name;
    }

    /**
     * Starts it, the first time or again, and waits until it answers. It is no child of ours: an agent that is relayed by us
     * takes us for the runtime, and our children for its helpers.
     */
    public void start() throws Exception {
        List<String> command = List.of(
                "containerd", "--config", directory.resolve("config.toml").toString());
        List<String> words = new ArrayList<>(
                List.of("sh", "-c", "log=$1; shift; \"$@\" >>\"$log\" 2>&1 & echo $!", "sh", log.toString()));
        words.addAll(machine.isPresent() ? machine.get().inside(command) : command);
        String pid = Command.ok(words.toArray(String[]::new));
        process = ProcessHandle.of(Long.parseLong(pid.strip()));
        Eventually.within(READY, () -> {
            if (!process().isAlive()) {
                throw new AssertionError("containerd ended: " + log());
            }
            return Files.exists(socket) && answers();
        });
    }

    /** Whether it runs; pods can run without it. */
    public boolean isAlive() {
        return process.filter(ProcessHandle::isAlive).isPresent();
    }

    /** The lock that the address manager of its pod network takes. */
    public Path addressLock() {
        return directory.resolve("ipam").resolve(name).resolve("lock");
    }

    private ProcessHandle process() {
        return process.orElseThrow(() -> new AssertionError("containerd does not run: " + socket));
    }

    /** Whether it can make pods: its own client is answered before that. */
    private boolean answers() {
        ManagedChannel channel = CriChannels.open(socket);
        try {
            return RuntimeServiceGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(5, TimeUnit.SECONDS)
                    .status(StatusRequest.getDefaultInstance())
                    .hasStatus();
        } catch (StatusRuntimeException e) {
            // It has only begun.
            return false;
        } finally {
            channel.shutdownNow();
        }
    }

    /** Gives it the images of {@link BusyboxImages}. */
    void importImages() throws Exception {
        Path archive = BusyboxImages.archive(directory.resolve("images"));
        Command.Result result = ctr(READY, "images", "import", archive.toString());
        if (result.code() != 0) {
            throw new AssertionError("images import: " + result.output() + log());
        }
    }

    /** Runs its own client, in the namespace of pods. */
    public Command.Result ctr(Duration limit, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("ctr", "-a", socket.toString(), "-n", "k8s.io"));
        command.addAll(List.of(arguments));
        return Command.run(limit, command.toArray(String[]::new));
    }

    public Path socket() {
        return socket;
    }

    /** As flags take it. */
    public String endpoint() {
        return "unix://" + socket;
    }

    /** Of its bridge, and of its control groups. */
    public String name() {
        return name;
    }

    public Path directory() {
        return directory;
    }

    public long pid() {
        return process().pid();
    }

    /** In front of runc. */
    public Gate runc() {
        return runc;
    }

    /** In front of the bridge plugin. */
    public Gate cni() {
        return cni;
    }

    /** Sends it a signal: STOP, CONT. */
    void signal(String signal) throws Exception {
        Command.signal(pid(), signal);
    }

    /** Ends it without giving it a chance; pods go on, the socket's file stays. */
    public void kill() throws Exception {
        signal("KILL");
        awaitEnd();
    }

    /** Ends it as init would; pods go on, the socket's file goes. */
    public void terminate() throws Exception {
        signal("TERM");
        awaitEnd();
    }

    private void awaitEnd() throws Exception {
        Eventually.within(Duration.ofSeconds(30), () -> !process().isAlive());
    }

    /** It and all helpers and shims that it starts from now on get {@code quota} of processor time in each {@code period}. */
    public void slow(Duration quota, Duration period) throws Exception {
        cpu.limit(pid(), quota, period);
    }

    /**
     * It gets less processor time than the calls of an idle node need, on a machine of any speed: each relist takes several
     * periods.
     */
    public void starve() throws Exception {
        slow(QUOTA, LONGEST);
    }

    /** Measures how much processor time the calls of this node need, which takes some seconds; for {@link #strain}. */
    void watchNeed() throws Exception {
        long before = ProcessFacts.runNanos(pid());
        Thread.sleep(WATCHED.toMillis());
        need = (ProcessFacts.runNanos(pid()) - before) / (double) WATCHED.toNanos();
    }

    /**
     * It gets half as much again as the calls of this node need: each relist takes several periods, but calls are answered.
     * What they need differs between machines by a factor of five, so {@link #watchNeed} measures it before.
     */
    void strain() throws Exception {
        long period = Math.clamp((long) (QUOTA.toMillis() / (need * ENOUGH)), SHORTEST.toMillis(), LONGEST.toMillis());
        slow(QUOTA, Duration.ofMillis(period));
    }

    /** It gets what there is. */
    public void fast() throws Exception {
        cpu.lift();
    }

    /** Its own disk. */
    public LoopDisk disk() {
        return disk.orElseThrow();
    }

    /** From now on the node has an address on the bridge, and reaches the pods. The subnet is then one of its own. */
    void connectNode() throws Exception {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        addresses = "\"isGateway\": true, \"ipam\": {\"type\": \"host-local\", \"subnet\": \"10.%d.%d.0/24\""
                .formatted(random.nextInt(100, 200), random.nextInt(256));
        restoreNetwork();
    }

    /** It has no configuration of a pod network any more. */
    void removeNetwork() throws Exception {
        Files.delete(network);
    }

    /** It has one again. */
    void restoreNetwork() throws Exception {
        Files.writeString(network, """
                {"cniVersion": "0.4.0", "name": "%s", "plugins": [
                  {"type": "bridge", "bridge": "%s",
                   %s, "dataDir": "%s"}}]}
                """.formatted(name, name, addresses, directory.resolve("ipam")));
    }

    /** The shim of a sandbox and of its containers. */
    public long shim(String sandbox) throws Exception {
        return ProcessHandle.allProcesses()
                .filter(candidate -> {
                    List<String> arguments =
                            List.of(candidate.info().arguments().orElse(new String[0]));
                    int id = arguments.indexOf("-id");
                    return arguments.contains(socket.toString())
                            && id >= 0
                            && arguments.get(id + 1).equals(sandbox);
                })
                .findFirst()
                .orElseThrow(() -> new AssertionError("no shim has sandbox " + sandbox))
                .pid();
    }

    /** The runs of its CNI plugin that have not ended. */
    List<Long> pluginRuns() {
        String plugin = cni.path().toString();
        return ProcessHandle.allProcesses()
                .filter(candidate -> List.of(candidate.info().arguments().orElse(new String[0]))
                        .contains(plugin))
                .map(ProcessHandle::pid)
                .toList();
    }

    String log() throws IOException {
        return Files.exists(log) ? Files.readString(log) : "";
    }

    /** What it could leave behind, for checks that it did not. */
    Leftovers leftovers() {
        return leftovers;
    }

    @Override
    public void close() throws Exception {
        Runtime.getRuntime().removeShutdownHook(lastResort);
        release();
    }

    private void releaseAtLast() {
        try {
            release();
        } catch (Exception | Error e) {
            System.err.println("containerd below " + directory + ": " + e);
        }
    }

    private void release() throws Exception {
        // Who waits for a frozen disk does not even die.
        if (disk.isPresent()) {
            disk.get().thawIfFrozen();
        }
        leftovers.kill();
        Set<String> ids = removeTraces();
        leftovers.unmount(data);
        Command.run(Duration.ofSeconds(10), "ip", "link", "delete", name);
        leftovers.removeCgroups(ids);
        cpu.close();
        if (disk.isPresent()) {
            disk.get().close();
        }
    }

    /** Removes files in places that all runtimes share; answers the ids of sandboxes and containers. */
    private Set<String> removeTraces() throws IOException {
        Set<String> ids = new TreeSet<>();
        // Of CRI, and of Docker.
        for (String namespace : List.of("k8s.io", "moby")) {
            for (Path task : Leftovers.children(data.resolve("state/io.containerd.runtime.v2.task/" + namespace))) {
                ids.add(task.getFileName().toString());
                Path address = task.resolve("address");
                if (Files.exists(address)) {
                    Files.deleteIfExists(Path.of(Files.readString(address).replaceFirst("^unix://", "")));
                }
            }
        }
        for (Path result : results()) {
            String file = result.getFileName().toString();
            if (file.startsWith(name + "-")) {
                ids.add(file.substring(name.length() + 1).replaceFirst("-.*", ""));
            }
            Files.deleteIfExists(result);
        }
        return ids;
    }

    /** What libcni remembers of its pods' networks: it names their namespaces, which are below the directory. */
    List<Path> results() throws IOException {
        List<Path> own = new ArrayList<>();
        for (Path result : Leftovers.children(CNI_RESULTS)) {
            try {
                if (Files.readString(result).contains(directory + "/")) {
                    own.add(result);
                }
            } catch (NoSuchFileException e) {
                // The directory is everyone's, and another runtime has just ended one of its pods.
            }
        }
        return own;
    }

    private String config() {
        return """
                version = 2
                root = "%1$s/data/root"
                state = "%1$s/data/state"
                oom_score = 0

                [grpc]
                  address = "%1$s/containerd.sock"
                [ttrpc]
                  address = "%1$s/containerd.sock.ttrpc"
                [debug]
                  address = "%1$s/debug.sock"

                [plugins."io.containerd.internal.v1.opt"]
                  path = "%1$s/opt"

                [plugins."io.containerd.grpc.v1.cri"]
                  sandbox_image = "%2$s"
                  disable_apparmor = true
                  # Lowering the score needs CAP_SYS_RESOURCE, which test machines may lack.
                  restrict_oom_score_adj = true
                  netns_mounts_under_state_dir = true
                  stream_server_address = "127.0.0.1"
                  stream_server_port = "0"

                  [plugins."io.containerd.grpc.v1.cri".cni]
                    bin_dir = "%1$s/bin"
                    conf_dir = "%1$s/net.d"
                    max_conf_num = 1

                  [plugins."io.containerd.grpc.v1.cri".containerd]
                    snapshotter = "overlayfs"
                    default_runtime_name = "runc"

                    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
                      runtime_type = "io.containerd.runc.v2"

                      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
                        BinaryName = "%1$s/bin/runc"
                        Root = "%1$s/runc"
                        SystemdCgroup = %3$s
                """.formatted(directory, BusyboxImages.PAUSE, machine.isPresent());
    }
}
