package io.nodekeeper.it.faults;

import io.nodekeeper.it.Command;
import io.nodekeeper.it.Leftovers;
import io.nodekeeper.it.LoopDisk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/** Faults of what the runtime needs of the machine: disks, limits, plugins and programs that work. */
final class MachineFaults {
    private MachineFaults() {}

    /** No process can write where the runtime keeps its state. */
    static Standing runtimeDiskFrozen() {
        return Standing.node(Layer.DISK, Way.D_STATE, "containerd's disk is frozen", scene -> {
            LoopDisk disk = scene.containerd().disk();
            scene.victim();
            disk.freeze();
            scene.startNewcomer();
            return Standing.struck(
                    Truth.object(
                            "containerd's frozen disk",
                            "disk|file system|froz",
                            disk.mountPoint().toString()),
                    disk::isFrozen,
                    disk::thawIfFrozen);
        });
    }

    /** The runtime's disk has no space, or no inodes. */
    static Standing diskFull(boolean inodes) {
        return Standing.probed(
                Layer.DISK,
                Way.EXHAUSTION,
                inodes ? "containerd's disk has no inodes left" : "containerd's disk is full",
                scene -> {
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
                    return Standing.struck(
                            Truth.object(
                                    "the full disk",
                                    inodes ? "inode|no space" : "no space|full|space left",
                                    root.toString(),
                                    "no space left",
                                    "space"),
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
                Layer.LIMIT,
                Way.EXHAUSTION,
                "containerd's control group is at pids.max",
                Primitive.Scope.RUNTIME,
                "node",
                false,
                true,
                scene -> {
                    long pid = scene.containerd().pid();
                    Path group = Files.createDirectories(
                            Path.of("/sys/fs/cgroup/pids", scene.containerd().name(), "few"));
                    Files.writeString(group.resolve("cgroup.procs"), Long.toString(pid));
                    Files.writeString(
                            group.resolve("pids.max"),
                            Files.readString(group.resolve("pids.current")).strip());
                    AtomicBoolean healed = new AtomicBoolean();
                    return Standing.struck(
                            Truth.object(
                                    "pids.max",
                                    "pids|fork|processes|temporarily unavailable|threads",
                                    "pids",
                                    "fork",
                                    "temporarily unavailable"),
                            () -> !healed.get(),
                            () -> {
                                Files.writeString(group.resolve("pids.max"), "max");
                                healed.set(true);
                            });
                });
    }

    /** The runtime may open no more files. */
    static Standing outOfFiles() {
        return Standing.probed(Layer.LIMIT, Way.EXHAUSTION, "containerd is at its limit of open files", scene -> {
            long pid = scene.containerd().pid();
            int open = Leftovers.children(Path.of("/proc", Long.toString(pid), "fd"))
                    .size();
            // Only the soft limit: raising the hard one again needs CAP_SYS_RESOURCE.
            String before = Files.readAllLines(Path.of("/proc", Long.toString(pid), "limits")).stream()
                    .filter(line -> line.startsWith("Max open files"))
                    .map(line -> line.replaceFirst("Max open files +", "").split(" +")[0])
                    .findFirst()
                    .orElseThrow();
            Command.ok("prlimit", "--pid", Long.toString(pid), "--nofile=" + (open + 1) + ":");
            AtomicBoolean healed = new AtomicBoolean();
            return Standing.struck(
                    Truth.object(
                            "the limit of open files",
                            "open files|file descriptors|nofile",
                            "open files",
                            "descriptors"),
                    () -> !healed.get(),
                    () -> {
                        if (ProcessHandle.of(pid).isPresent()) {
                            Command.ok("prlimit", "--pid", Long.toString(pid), "--nofile=" + before + ":");
                        }
                        healed.set(true);
                    });
        });
    }

    /** The runtime's image store has lost the contents of its images. */
    static Standing imagesLost() {
        return Standing.probed(Layer.CONTAINERD, Way.ERROR, "containerd's image store has lost its contents", scene -> {
            Path blobs = scene.containerd()
                    .disk()
                    .mountPoint()
                    .resolve("root/io.containerd.content.v1.content/blobs/sha256");
            Path away = blobs.resolveSibling("sha256.away");
            Files.move(blobs, away);
            return Standing.struck(
                    Truth.object("the lost contents", "image|content|blob|sha256|not found", "image", "content"),
                    () -> Files.exists(away),
                    () -> {
                        if (Files.exists(away)) {
                            Command.ok("rm", "-rf", blobs.toString());
                            Files.move(away, blobs);
                        }
                    });
        });
    }

    /** The plugin takes its time, but less than the agent's patience. */
    static Standing pluginSlow() {
        return Standing.probed(Layer.CNI_PLUGIN, Way.SLOW, "CNI ADD takes 3 s, which is no fault", scene -> {
            scene.containerd().cni().hook("ADD", "", "sleep 3");
            AtomicBoolean healed = new AtomicBoolean();
            return Standing.struck(
                    Truth.object("nothing hangs", "^$", "nothing").orSilence(), () -> !healed.get(), () -> {
                        scene.containerd().cni().unhook("ADD");
                        healed.set(true);
                    });
        });
    }

    /** The plugin fails, which shows only when a pod is started. */
    static Standing pluginFails(Way way, String text, String shell, String mechanism) {
        return Standing.probed(Layer.CNI_PLUGIN, way, "CNI ADD " + text, scene -> {
            scene.containerd().cni().hook("ADD", "", shell);
            AtomicBoolean healed = new AtomicBoolean();
            return Standing.struck(
                    Truth.object("the plugin", mechanism, "bridge", "network"), () -> !healed.get(), () -> {
                        scene.containerd().cni().unhook("ADD");
                        healed.set(true);
                    });
        });
    }

    /** The OCI runtime fails. */
    static Standing runcFails(Way way, String text, String shell, String mechanism) {
        return Standing.probed(Layer.RUNC, way, "runc create " + text, scene -> {
            scene.containerd().runc().hook("create", "", shell);
            AtomicBoolean healed = new AtomicBoolean();
            return Standing.struck(Truth.object("runc", mechanism, "runc", "OCI"), () -> !healed.get(), () -> {
                scene.containerd().runc().unhook("create");
                healed.set(true);
            });
        });
    }
}
