package io.nodekeeper.agent.host;

import io.nodekeeper.agent.facts.Capacity;
import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.HostAddresses;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.facts.MachineInfo;
import io.nodekeeper.agent.kernel.KernelFile;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Reads facts about the Linux machine that the process runs on. Readings that may block run on workers, each at most once at
 * a time, so that one hung disk blocks only one thread. Thread-safe.
 */
public final class LinuxHost implements Host {
    /** The timeout that cAdvisor uses for statfs. */
    private static final Duration DEADLINE = Duration.ofSeconds(2);
    /** The default timeout of a resolver's first query (resolv.conf: 5 s). */
    private static final Duration RESOLVE_DEADLINE = Duration.ofSeconds(5);

    /** With the systemd driver and with the cgroupfs driver of a kubelet. */
    private static final List<String> USUAL_POD_CGROUPS = List.of("/kubepods.slice", "/kubepods");

    private final LinuxFiles files;
    private final List<String> podCgroups;
    private final Path rootDir;
    private final Workers workers;
    private final Set<String> underWay = ConcurrentHashMap.newKeySet();

    /**
     * A host whose kernel files are below {@code root}.
     *
     * @param root {@code /}, except in tests
     * @param rootDir the agent's root directory; if it does not exist yet, the nearest existing directory above it is used
     */
    public LinuxHost(Path root, Path rootDir, Workers workers) {
        this(root, rootDir, USUAL_POD_CGROUPS, workers);
    }

    /** The same, where the cgroup of all pods is the first of {@code podCgroups} that exists. */
    public LinuxHost(Path root, Path rootDir, List<String> podCgroups, Workers workers) {
        this.podCgroups = podCgroups;
        this.files = new LinuxFiles(root);
        this.rootDir = rootDir.toAbsolutePath();
        this.workers = workers;
    }

    /** The machine's host name; blocks on the disk. Empty if it cannot be read. */
    public static String hostname() {
        return new LinuxFiles(Path.of("/")).first("proc/sys/kernel/hostname", "etc/hostname");
    }

    /** The time since the machine booted; blocks. Zero if it cannot be read. */
    public static Duration uptime() {
        String seconds = new LinuxFiles(Path.of("/")).first("proc/uptime").split(" ", 2)[0];
        return seconds.isEmpty() ? Duration.ZERO : Duration.ofMillis((long) (Double.parseDouble(seconds) * 1000));
    }

    /** The id of the machine's current boot; blocks. Empty if it cannot be read. */
    public static String bootId() {
        return new LinuxFiles(Path.of("/")).first("proc/sys/kernel/random/boot_id");
    }

    /** The machine's cgroup version: 2 if only the unified hierarchy is mounted, else 1; blocks. */
    public static int cgroupVersion() {
        return Files.exists(Path.of("/sys/fs/cgroup/cgroup.controllers")) ? 2 : 1;
    }

    /**
     * Why the memory of pods cannot be measured on this machine; empty if it can; blocks.
     *
     * @param podCgroups where the cgroup of all pods may be
     */
    public static Optional<String> podMemoryFault(List<String> podCgroups) {
        try {
            new LinuxFiles(Path.of("/")).podMemory(podCgroups);
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** What the machine has for its pods; blocks. */
    public static Capacity capacity() throws IOException {
        LinuxFiles files = new LinuxFiles(Path.of("/"));
        return new Capacity(
                files.cores(), files.memory("MemTotal"), files.pids().capacity());
    }

    /** Whether the kernel has AppArmor and its files are visible, as a kubelet finds it out; blocks. */
    public static boolean hasAppArmor() {
        try {
            return Files.exists(Path.of("/sys/kernel/security/apparmor"))
                    && KernelFile.text(Path.of("/sys/module/apparmor/parameters/enabled"))
                            .startsWith("Y");
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Tells the kernel how readily it may kill this process when memory is short; blocks.
     *
     * @param adjust from -1000, never, to 1000
     * @throws IOException if the process may not
     */
    public static void adjustOomScore(int adjust) throws IOException {
        Files.writeString(Path.of("/proc/self/oom_score_adj"), Integer.toString(adjust), StandardOpenOption.WRITE);
    }

    /** The interface of the default route by the files below {@code root}; blocks. Empty if there is none. */
    public static Optional<String> defaultInterface(Path root) {
        return new LinuxFiles(root).defaultRouteInterface();
    }

    /** Asks the file system of {@code path} for its size; blocks until it answers. */
    public static void ask(Path path) throws IOException {
        Statvfs.of(path);
    }

    @Override
    public CompletableFuture<MachineInfo> machine() {
        return read("machine info", DEADLINE, () -> {
            String machineId = files.first("etc/machine-id", "var/lib/dbus/machine-id");
            String uuid = files.first(
                    "sys/class/dmi/id/product_uuid", "proc/device-tree/system-id", "proc/device-tree/vm,uuid");
            return new MachineInfo(
                    files.cores(),
                    files.memory("MemTotal"),
                    files.memory("SwapTotal"),
                    files.hugePages(),
                    machineId,
                    uuid.isEmpty() ? machineId : uuid,
                    files.first("proc/sys/kernel/random/boot_id"),
                    files.first("proc/sys/kernel/osrelease"),
                    files.osImage(),
                    architecture(System.getProperty("os.arch", "")));
        });
    }

    @Override
    public CompletableFuture<Filesystem> rootFilesystem() {
        return read("statvfs of " + rootDir, DEADLINE, () -> Statvfs.of(existing(rootDir)));
    }

    @Override
    public CompletableFuture<Filesystem> filesystem(Path path) {
        return read("statvfs of " + path, DEADLINE, () -> Statvfs.of(path));
    }

    @Override
    public CompletableFuture<Level> podMemory() {
        return read("memory of the pod cgroup", DEADLINE, () -> files.podMemory(podCgroups));
    }

    @Override
    public CompletableFuture<Long> workingSet() {
        return read("memory of the root cgroup", DEADLINE, files::workingSet);
    }

    @Override
    public CompletableFuture<Level> pids() {
        return read("process ids", DEADLINE, files::pids);
    }

    @Override
    public CompletableFuture<HostAddresses> addresses(String nodeName) {
        return read("addresses of " + nodeName, RESOLVE_DEADLINE, () -> {
            List<InetAddress> interfaces = new ArrayList<>();
            for (NetworkInterface network : NetworkInterface.networkInterfaces().toList()) {
                interfaces.addAll(network.inetAddresses().map(LinuxHost::plain).toList());
            }
            return new HostAddresses(resolve(nodeName), interfaces, defaultRoute());
        });
    }

    /** Go's name for Java's {@code os.arch}. */
    static String architecture(String java) {
        return switch (java.toLowerCase(Locale.ROOT)) {
            case "x86_64", "amd64" -> "amd64";
            case "aarch64", "arm64" -> "arm64";
            case "x86", "i386", "i686" -> "386";
            default -> java;
        };
    }

    private <T> CompletableFuture<T> read(String what, Duration deadline, Callable<T> call) {
        return workers.call(what, deadline, () -> {
            if (!underWay.add(what)) {
                throw new IOException("an earlier reading of " + what + " has not returned yet");
            }
            try {
                return call.call();
            } finally {
                underWay.remove(what);
            }
        });
    }

    private List<InetAddress> defaultRoute() throws SocketException {
        Optional<String> name = files.defaultRouteInterface();
        if (name.isEmpty()) {
            return List.of();
        }
        return Optional.ofNullable(NetworkInterface.getByName(name.get()))
                .map(network -> network.inetAddresses().map(LinuxHost::plain).toList())
                .orElse(List.of());
    }

    private static List<InetAddress> resolve(String name) {
        try {
            return List.of(InetAddress.getAllByName(name));
        } catch (UnknownHostException e) {
            // Not an error: the default route's address is used then.
            return List.of();
        }
    }

    /** The address without the interface's scope, which has no meaning elsewhere. */
    private static InetAddress plain(InetAddress address) {
        try {
            return InetAddress.getByAddress(address.getAddress());
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address has 4 or 16 bytes, got " + address, e);
        }
    }

    /** The path, or its nearest parent that exists, which is on the same file system. */
    public static Path existing(Path path) {
        Path candidate = path;
        while (!Files.exists(candidate) && candidate.getParent() != null) {
            candidate = candidate.getParent();
        }
        return candidate;
    }
}
