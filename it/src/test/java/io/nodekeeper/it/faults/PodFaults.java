package io.nodekeeper.it.faults;

import io.nodekeeper.it.Command;
import io.nodekeeper.it.Eventually;
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

/** Faults of one pod's shim and containers. */
final class PodFaults {
    private static final Duration SOON = Duration.ofSeconds(20);

    private PodFaults() {}

    /** A pod's shim does not run. */
    static Standing shimHeld(Grip grip) {
        return Standing.pod(Layer.SHIM, grip.way(), "a shim is " + grip.text(), scene -> {
            long pid = scene.containerd().shim(scene.victim().sandbox());
            Grip.Held held = grip.hold(scene, pid);
            return Standing.struck(
                    Truth.process("the shim, " + grip.text(), () -> Standing.with(pid, held.others()), grip.mechanism())
                            .of(scene.victimName())
                            .mildly(grip.remedy()),
                    held::lasts,
                    held::release);
        });
    }

    /** A container stopped itself, or was stopped: nothing of the runtime waits. */
    static Standing containerStopped() {
        return Standing.pod(
                Layer.CONTAINER, Way.SIGSTOP, "a container's process is stopped with SIGSTOP; nothing waits", scene -> {
                    long pid = init(scene);
                    Command.signal(pid, "STOP");
                    return Standing.struck(
                            Truth.process("nothing", Set::of, "^$").orSilence(),
                            () -> ProcessFacts.state(pid) == 'T',
                            () -> Command.signal(pid, "CONT"));
                });
    }

    /** The runtime notices that a shim is gone and ends its pod; nothing waits. */
    static Standing shimKilled() {
        return new Standing(
                Layer.SHIM,
                Way.GONE,
                "a shim is killed; the runtime ends its pod",
                Primitive.Scope.POD,
                "SHIM",
                true,
                false,
                scene -> {
                    long pid = scene.containerd().shim(scene.victim().sandbox());
                    Command.signal(pid, "KILL");
                    return Standing.struck(
                            Truth.object("nothing hangs", "ShimGone", "shim").orSilence(),
                            () -> ProcessHandle.of(pid).isEmpty(),
                            () -> {});
                });
    }

    /** A paused container: nothing waits. */
    static Standing containerPaused(boolean first) {
        String text = "a container is frozen by the freezer of cgroup " + version(first) + "; nothing waits";
        return Standing.pod(
                Layer.CONTAINER,
                way(first),
                text,
                scene -> frozen(scene, group(init(scene), first), first).quiet());
    }

    /**
     * The control group of a whole pod is frozen. An exec enters it and waits: the OCI runtime refuses only for the freezer
     * of the container itself.
     */
    static Standing podFrozen(boolean first) {
        String text =
                "the control group of a pod is frozen by the freezer of cgroup " + version(first) + "; an exec waits";
        return Standing.pod(Layer.CGROUP, way(first), text, scene -> {
            FrozenGroup group =
                    frozen(scene, group(init(scene), first).resolve("..").toRealPath(), first);
            scene.execInVictim();
            return group.struck();
        });
    }

    private static String version(boolean first) {
        return first ? "v1" : "v2";
    }

    private static Way way(boolean first) {
        return first ? Way.FREEZER_V1 : Way.FREEZER_V2;
    }

    private static FrozenGroup frozen(Scene scene, Path group, boolean first) throws IOException {
        Path file = group.resolve(first ? "freezer.state" : "cgroup.freeze");
        Files.writeString(file, first ? "FROZEN" : "1");
        scene.closes(() -> thaw(file, first));
        return new FrozenGroup(
                Truth.process("the frozen control group", () -> processes(group), "froze|freez|thaw|paused")
                        .or(group.toString())
                        .of(scene.victimName()),
                file,
                first);
    }

    /** A frozen control group, version 1 or 2, and the file that thaws it. */
    private record FrozenGroup(Truth truth, Path file, boolean first) {
        Struck struck() {
            return Standing.struck(truth, this::lasts, () -> thaw(file, first));
        }

        Struck quiet() {
            return Standing.struck(truth.orSilence(), this::lasts, () -> thaw(file, first));
        }

        private boolean lasts() throws IOException {
            return Files.exists(file) && !Files.readString(file).strip().equals(first ? "THAWED" : "0");
        }
    }

    /** A container that writes to a frozen disk cannot be stopped. */
    static Standing containerOnFrozenDisk() {
        return new Standing(
                Layer.CONTAINER,
                Way.D_STATE,
                "a container writes to a frozen disk and is stopped",
                Primitive.Scope.POD,
                "CONTAINER",
                true,
                false,
                scene -> {
                    LoopDisk disk = scene.disk();
                    Path mount = scene.file("volume");
                    scene.victim("while :; do echo x >> /data/f; sleep 0.2; done", mount);
                    disk.freeze();
                    Eventually.within(
                            SOON, () -> containers(scene).stream().anyMatch(pid -> ProcessFacts.state(pid) == 'D'));
                    scene.stopVictim();
                    return Standing.struck(
                            Truth.object("the frozen disk", "disk|file system|froz", mount.toString(), "/data")
                                    .of(scene.victimName()),
                            () -> containers(scene).stream().anyMatch(pid -> ProcessFacts.state(pid) == 'D'),
                            disk::thawIfFrozen);
                });
    }

    /** A container that looks at a silent FUSE file system cannot be stopped. */
    static Standing containerOnFuse() {
        return new Standing(
                Layer.CONTAINER,
                Way.SILENT,
                "a container looks at a FUSE file system that does not answer and is stopped",
                Primitive.Scope.POD,
                "CONTAINER",
                true,
                false,
                scene -> {
                    Fuse fuse = Fuse.mount(scene);
                    scene.victim("while :; do [ -e /data/x ]; sleep 0.2; done", fuse.mountPoint());
                    fuse.silence();
                    Thread.sleep(1_000);
                    scene.stopVictim();
                    return Standing.struck(
                            fuse.truth(Set.of()).or("/data").of(scene.victimName()), fuse::lasts, fuse::end);
                });
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
        return base.resolve(first ? "freezer" : Files.isDirectory(base.resolve("unified")) ? "unified" : "")
                .resolve(path);
    }

    private static void thaw(Path file, boolean first) throws IOException {
        if (Files.exists(file)) {
            Files.writeString(file, first ? "THAWED" : "0");
        }
    }

    /** Of the group and of those below it. */
    private static Set<Long> processes(Path group) {
        Set<Long> pids = new TreeSet<>(Commands.numbers(group.resolve("cgroup.procs")));
        try (var below = Files.newDirectoryStream(group, Files::isDirectory)) {
            below.forEach(child -> pids.addAll(Commands.numbers(child.resolve("cgroup.procs"))));
        } catch (IOException e) {
            // The pod has ended.
        }
        return pids;
    }
}
