package io.nodekeeper.it.faults;

import io.nodekeeper.it.Command;
import io.nodekeeper.it.Containerd;
import io.nodekeeper.it.Eventually;
import io.nodekeeper.it.Leftovers;
import io.nodekeeper.it.LoopDisk;
import io.nodekeeper.it.ProcessFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A fault of something that is there all the time: the runtime, a shim, a container, a disk, a limit.
 *
 * @param endsVictim whether the pod that is hit ends as a part of it
 * @param needsProbes whether it shows only when the agent probes the pod network
 */
record Standing(
        Layer layer, Way way, String text, Scope scope, String slot, boolean endsVictim, boolean needsProbes, Strike action)
        implements Primitive {
    /** Lets it happen. */
    interface Strike {
        Struck strike(Scene scene) throws Exception;
    }

    /** Asks whether something is so. */
    interface Question {
        boolean ask() throws Exception;
    }

    /** Does something. */
    interface Action {
        void run() throws Exception;
    }

    private static final Duration SOON = Duration.ofSeconds(20);

    @Override
    public Struck strike(Scene scene) throws Exception {
        return action.strike(scene);
    }

    private static Struck struck(Truth truth, Question lasts, Action heal) {
        return new Struck() {
            @Override
            public Truth truth() {
                return truth;
            }

            @Override
            public boolean lasts() throws Exception {
                return lasts.ask();
            }

            @Override
            public void heal() throws Exception {
                heal.run();
            }
        };
    }

    private static Standing node(Layer layer, Way way, String text, Strike action) {
        return new Standing(layer, way, text, Scope.NODE, "node", false, false, action);
    }

    private static Standing runtime(Layer layer, Way way, String text, Strike action) {
        return new Standing(layer, way, text, Scope.RUNTIME, "node", false, false, action);
    }

    private static Standing pod(Layer layer, Way way, String text, Strike action) {
        return new Standing(layer, way, text, Scope.POD, layer.name(), false, false, action);
    }

    private static Standing probed(Layer layer, Way way, String text, Strike action) {
        return new Standing(layer, way, text, Scope.NODE, "node", false, true, action);
    }

    /** The runtime's process does not run. */
    static Standing runtimeHeld(Grip grip) {
        return node(Layer.CONTAINERD, grip.way(), "containerd is " + grip.text(), scene -> {
            long pid = scene.containerd().pid();
            Grip.Held held = grip.hold(scene, pid);
            return struck(
                    Truth.process("containerd, " + grip.text(), () -> with(pid, held.others()), grip.mechanism())
                            .mildly(grip.remedy()),
                    held::lasts,
                    held::release);
        });
    }

    /** A pod's shim does not run. */
    static Standing shimHeld(Grip grip) {
        return pod(Layer.SHIM, grip.way(), "a shim is " + grip.text(), scene -> {
            long pid = scene.containerd().shim(scene.victim().sandbox());
            Grip.Held held = grip.hold(scene, pid);
            return struck(
                    Truth.process("the shim, " + grip.text(), () -> with(pid, held.others()), grip.mechanism())
                            .of(scene.victimName())
                            .mildly(grip.remedy()),
                    held::lasts,
                    held::release);
        });
    }

    /** A container stopped itself, or was stopped: nothing of the runtime waits. */
    static Standing containerStopped() {
        return pod(Layer.CONTAINER, Way.SIGSTOP, "a container's process is stopped with SIGSTOP; nothing waits", scene -> {
            long pid = init(scene);
            Command.signal(pid, "STOP");
            return struck(
                    Truth.process("nothing", Set::of, "^$").orSilence(),
                    () -> ProcessFacts.state(pid) == 'T',
                    () -> Command.signal(pid, "CONT"));
        });
    }

    /** A paused container: nothing waits, or an exec does. */
    static Standing containerPaused(boolean first, boolean exec) {
        String version = first ? "v1" : "v2";
        return pod(
                Layer.CONTAINER,
                first ? Way.FREEZER_V1 : Way.FREEZER_V2,
                "a container is frozen by the freezer of cgroup " + version + (exec ? "; an exec waits" : "; nothing waits"),
                scene -> {
                    long pid = init(scene);
                    Path group = group(pid, first);
                    Path file = group.resolve(first ? "freezer.state" : "cgroup.freeze");
                    Files.writeString(file, first ? "FROZEN" : "1");
                    if (exec) {
                        scene.execInVictim();
                    }
                    Truth frozen = Truth.process("the frozen container", () -> processes(group), "froze|freez|thaw|paused")
                            .or(group.getFileName().toString())
                            .of(scene.victimName());
                    return struck(
                            exec ? frozen : frozen.orSilence(),
                            () -> !Files.readString(file).strip().equals(first ? "THAWED" : "0"),
                            () -> {
                                if (Files.exists(file)) {
                                    Files.writeString(file, first ? "THAWED" : "0");
                                }
                            });
                });
    }

    /** A container that writes to a frozen disk cannot be stopped. */
    static Standing containerOnFrozenDisk() {
        return new Standing(
                Layer.CONTAINER, Way.D_STATE, "a container writes to a frozen disk and is stopped", Scope.POD, "CONTAINER",
                true, false, scene -> {
                    LoopDisk disk = scene.disk();
                    Path mount = scene.file("volume");
                    scene.victim("while :; do echo x >> /data/f; sleep 0.2; done", mount);
                    disk.freeze();
                    Eventually.within(SOON, () -> containers(scene).stream().anyMatch(pid -> ProcessFacts.state(pid) == 'D'));
                    scene.stopVictim();
                    return struck(
                            Truth.object("the frozen disk", "disk|file system|froz", mount.toString(), "/data")
                                    .of(scene.victimName()),
                            () -> containers(scene).stream().anyMatch(pid -> ProcessFacts.state(pid) == 'D'),
                            disk::thawIfFrozen);
                });
    }

    /** A container that looks at a silent FUSE file system cannot be stopped. */
    static Standing containerOnFuse() {
        return new Standing(
                Layer.CONTAINER, Way.FUSE, "a container looks at a FUSE file system that does not answer and is stopped",
                Scope.POD, "CONTAINER", true, false, scene -> {
                    Fuse fuse = Fuse.mount(scene);
                    scene.victim("while :; do [ -e /data/x ]; sleep 0.2; done", fuse.mountPoint());
                    fuse.silence();
                    Thread.sleep(1_000);
                    scene.stopVictim();
                    return struck(fuse.truth(Set.of()).or("/data").of(scene.victimName()), fuse::lasts, fuse::end);
                });
    }

    /** Nobody can write where the runtime keeps its state. */
    static Standing runtimeDiskFrozen() {
        return node(Layer.DISK, Way.D_STATE, "containerd's disk is frozen", scene -> {
            LoopDisk disk = scene.containerd().disk();
            scene.victim();
            disk.freeze();
            scene.startNewcomer();
            return struck(
                    Truth.object("containerd's frozen disk", "disk|file system|froz", disk.mountPoint().toString()),
                    disk::isFrozen,
                    disk::thawIfFrozen);
        });
    }

    /** The runtime gets a hundredth of a processor. */
    static Standing runtimeThrottled(int micros) {
        return node(Layer.CONTAINERD, Way.SLOW, "containerd has " + micros + " us of processor time in 100 ms", scene -> {
            scene.containerd().slow(micros);
            scene.startNewcomer();
            AtomicBoolean fast = new AtomicBoolean();
            return struck(
                    Truth.process("containerd's quota", () -> Set.of(scene.containerd().pid()), "throttl|quota"),
                    () -> !fast.get(),
                    () -> {
                        scene.containerd().fast();
                        fast.set(true);
                    });
        });
    }

    /** The runtime's disk has no space, or no inodes. */
    static Standing diskFull(boolean inodes) {
        return probed(
                Layer.DISK, Way.EXHAUSTION, inodes ? "containerd's disk has no inodes left" : "containerd's disk is full", scene -> {
                    Path root = scene.containerd().disk().mountPoint();
                    Path filler = root.resolve("filler");
                    if (inodes) {
                        Command.run(
                                Duration.ofSeconds(60),
                                "sh",
                                "-c",
                                "mkdir " + filler + " && cd " + filler
                                        + " && perl -e 'for (1..200000) { open F, \">\", $_ or last; close F }'");
                    } else {
                        Command.run(Duration.ofSeconds(60), "sh", "-c", "cat /dev/zero >" + filler);
                    }
                    AtomicBoolean healed = new AtomicBoolean();
                    return struck(
                            Truth.object(
                                    "the full disk",
                                    inodes ? "inode|no space" : "no space|full|space left",
                                    root.toString(), "no space left", "space"),
                            () -> !healed.get(),
                            () -> {
                                Command.ok("rm", "-rf", filler.toString());
                                healed.set(true);
                            });
                });
    }

    /** The runtime may have no more processes. */
    static Standing outOfPids() {
        return new Standing(
                Layer.LIMIT, Way.EXHAUSTION, "containerd's control group is at pids.max", Scope.RUNTIME, "node", false, true,
                scene -> {
                    long pid = scene.containerd().pid();
                    Path group = Files.createDirectories(
                            Path.of("/sys/fs/cgroup/pids", scene.containerd().name(), "few"));
                    Files.writeString(group.resolve("cgroup.procs"), Long.toString(pid));
                    Files.writeString(
                            group.resolve("pids.max"),
                            Files.readString(group.resolve("pids.current")).strip());
                    AtomicBoolean healed = new AtomicBoolean();
                    return struck(
                            Truth.object("pids.max", "pids|fork|processes|temporarily unavailable|threads", "pids", "fork", "temporarily unavailable"),
                            () -> !healed.get(),
                            () -> {
                                Files.writeString(group.resolve("pids.max"), "max");
                                healed.set(true);
                            });
                });
    }

    /** The runtime may open no more files. */
    static Standing outOfFiles() {
        return probed(Layer.LIMIT, Way.EXHAUSTION, "containerd is at its limit of open files", scene -> {
            long pid = scene.containerd().pid();
            int open = Leftovers.children(Path.of("/proc", Long.toString(pid), "fd")).size();
            // Only the soft limit: raising the hard one again needs CAP_SYS_RESOURCE.
            String before = Files.readAllLines(Path.of("/proc", Long.toString(pid), "limits")).stream()
                    .filter(line -> line.startsWith("Max open files"))
                    .map(line -> line.replaceFirst("Max open files +", "").split(" +")[0])
                    .findFirst()
                    .orElseThrow();
            Command.ok("prlimit", "--pid", Long.toString(pid), "--nofile=" + (open + 1) + ":");
            AtomicBoolean healed = new AtomicBoolean();
            return struck(
                    Truth.object("the limit of open files", "open files|file descriptors|nofile", "open files", "descriptors"),
                    () -> !healed.get(),
                    () -> {
                        if (ProcessHandle.of(pid).isPresent()) {
                            Command.ok("prlimit", "--pid", Long.toString(pid), "--nofile=" + before + ":");
                        }
                        healed.set(true);
                    });
        });
    }

    /** No runtime is there: killed, or ended. */
    static Standing runtimeGone(boolean killed) {
        return runtime(
                Layer.CONTAINERD, Way.GONE, killed ? "containerd is killed (SIGKILL)" : "containerd is ended (SIGTERM)", scene -> {
                    if (killed) {
                        scene.containerd().kill();
                    } else {
                        scene.containerd().terminate();
                    }
                    return struck(
                            Truth.object(
                                    "no containerd", "unreachable|listen|refused|not running|no process",
                                    scene.containerd().socket().toString()),
                            () -> !scene.containerd().isAlive(),
                            () -> startIfDead(scene.containerd()));
                });
    }

    /** The runtime starts again and again. */
    static Standing restarts() {
        return runtime(Layer.CONTAINERD, Way.RESTARTS, "containerd is killed and started every 4 s", scene -> {
            Set<Long> pids = new TreeSet<>(Set.of(scene.containerd().pid()));
            AtomicBoolean stop = new AtomicBoolean();
            Thread loop = Thread.ofPlatform().daemon().start(() -> {
                while (!stop.get()) {
                    try {
                        scene.containerd().kill();
                        scene.containerd().start();
                        synchronized (pids) {
                            pids.add(scene.containerd().pid());
                        }
                        Thread.sleep(4_000);
                    } catch (Exception | AssertionError e) {
                        return;
                    }
                }
            });
            return struck(
                    Truth.object("containerd's restarts", "restart|started|times", "restart", "times"),
                    () -> !stop.get(),
                    () -> {
                        stop.set(true);
                        loop.join();
                        startIfDead(scene.containerd());
                    });
        });
    }

    /** Another program listens at the runtime's socket. */
    static Standing socketTaken(String answer, Way way, String text) {
        return runtime(Layer.SOCKET, way, "another program listens at containerd's socket and " + text, scene -> {
            scene.containerd().terminate();
            Path ready = scene.file("listening");
            long pid = scene.helper(Programs.listener(scene.containerd().socket(), answer, ready), ready);
            return struck(
                    Truth.process(
                                    "the program at the socket",
                                    () -> Set.of(pid),
                                    "RuntimeHung|answer|not a|closes|protocol|listen|other|respond|unreachable|accept")
                            .or(scene.containerd().socket().toString()),
                    () -> ProcessHandle.of(pid).isPresent(),
                    () -> {
                        Scene.end(pid);
                        Files.deleteIfExists(scene.containerd().socket());
                        startIfDead(scene.containerd());
                    });
        });
    }

    /** Another containerd, with a state of its own, listens at the socket; the pods' shims still run. */
    static Standing secondRuntime() {
        return runtime(Layer.SOCKET, Way.GARBAGE, "another containerd listens at the socket; the shims are not its own", scene -> {
            scene.containerd().terminate();
            Path socket = scene.containerd().socket();
            Path config = scene.file("config.toml");
            Path data = scene.containerd().directory().resolve("data");
            Files.writeString(
                    config,
                    Files.readString(scene.containerd().directory().resolve("config.toml"))
                            .replace(data + "/root", scene.file("root").toString())
                            .replace(data + "/state", scene.file("state").toString()));
            long pid = scene.helper(List.of("containerd", "--config", config.toString()), socket);
            return struck(
                    Truth.process(
                                    "the other containerd",
                                    () -> Set.of(pid),
                                    "shim|orphan|other|second|not its|sandbox")
                            .or(socket.toString()),
                    () -> ProcessHandle.of(pid).isPresent(),
                    () -> {
                        Scene.end(pid);
                        Files.deleteIfExists(socket);
                        startIfDead(scene.containerd());
                    });
        });
    }

    /** The plugin fails, which nobody sees who starts no pods. */
    static Standing pluginFails(Way way, String text, String shell, String mechanism) {
        return probed(Layer.CNI_PLUGIN, way, "CNI ADD " + text, scene -> {
            scene.containerd().cni().hook("ADD", "", shell);
            AtomicBoolean healed = new AtomicBoolean();
            return struck(
                    Truth.object("the plugin", mechanism, "bridge", "network"),
                    () -> !healed.get(),
                    () -> {
                        scene.containerd().cni().unhook("ADD");
                        healed.set(true);
                    });
        });
    }

    /** The OCI runtime fails. */
    static Standing runcFails(Way way, String text, String shell, String mechanism) {
        return probed(Layer.RUNC, way, "runc create " + text, scene -> {
            scene.containerd().runc().hook("create", "", shell);
            AtomicBoolean healed = new AtomicBoolean();
            return struck(
                    Truth.object("runc", mechanism, "runc", "OCI"),
                    () -> !healed.get(),
                    () -> {
                        scene.containerd().runc().unhook("create");
                        healed.set(true);
                    });
        });
    }

    private static void startIfDead(Containerd containerd) throws Exception {
        if (!containerd.isAlive()) {
            containerd.start();
        }
    }

    private static Set<Long> with(long pid, Set<Long> others) {
        Set<Long> all = new TreeSet<>(others);
        all.add(pid);
        return all;
    }

    private static List<Long> containers(Scene scene) throws IOException {
        return new ArrayList<>(Census.processes(scene.containerd(), scene.victimName()));
    }

    /** The container's first process: the one that is not the sandbox's. */
    private static long init(Scene scene) throws Exception {
        String container = scene.victim().container();
        for (long pid : Census.processes(scene.containerd(), scene.victimName())) {
            if (Files.readString(Path.of("/proc", Long.toString(pid), "cgroup")).contains(container)) {
                return pid;
            }
        }
        throw new AssertionError("container " + container + " has no process");
    }

    private static Path group(long pid, boolean first) throws IOException {
        String marker = first ? ":freezer:" : "0::";
        String path = Files.readAllLines(Path.of("/proc", Long.toString(pid), "cgroup")).stream()
                .filter(line -> line.contains(marker))
                .map(line -> line.replaceFirst("^[^:]*:[^:]*:/", ""))
                .findFirst()
                .orElseThrow();
        Path base = Path.of("/sys/fs/cgroup");
        return base.resolve(first ? "freezer" : Files.isDirectory(base.resolve("unified")) ? "unified" : "").resolve(path);
    }

    private static Set<Long> processes(Path group) {
        return Commands.numbers(group.resolve("cgroup.procs"));
    }
}
