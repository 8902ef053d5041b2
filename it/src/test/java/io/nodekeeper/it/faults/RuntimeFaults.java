package io.nodekeeper.it.faults;

import io.nodekeeper.it.Containerd;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;

/** Faults of the runtime as a whole and of its socket. */
final class RuntimeFaults {
    private RuntimeFaults() {}

    /** The runtime's process does not run. */
    static Standing runtimeHeld(Grip grip) {
        return Standing.node(Layer.CONTAINERD, grip.way(), "containerd is " + grip.text(), scene -> {
            long pid = scene.containerd().pid();
            Grip.Held held = grip.hold(scene, pid);
            return Standing.struck(
                    Truth.process(
                                    "containerd, " + grip.text(),
                                    () -> Standing.with(pid, held.others()),
                                    grip.mechanism())
                            .mildly(grip.remedy()),
                    held::lasts,
                    held::release);
        });
    }

    /** The runtime gets less processor time than its calls need. */
    static Standing runtimeThrottled() {
        return Standing.node(Layer.CONTAINERD, Way.SLOW, "containerd has 1 ms of processor time in 400 ms", scene -> {
            scene.containerd().starve();
            scene.startNewcomer();
            AtomicBoolean fast = new AtomicBoolean();
            return Standing.struck(
                    Truth.process(
                            "containerd's quota",
                            () -> Set.of(scene.containerd().pid()),
                            "throttl|quota"),
                    () -> !fast.get(),
                    () -> {
                        scene.containerd().fast();
                        fast.set(true);
                    });
        });
    }

    /** No runtime is there: killed, or ended. */
    static Standing runtimeGone(boolean killed) {
        return Standing.runtime(
                Layer.CONTAINERD,
                Way.GONE,
                killed ? "containerd is killed (SIGKILL)" : "containerd is ended (SIGTERM)",
                scene -> {
                    if (killed) {
                        scene.containerd().kill();
                    } else {
                        scene.containerd().terminate();
                    }
                    return Standing.struck(
                            Truth.object(
                                    "no containerd",
                                    "unreachable|listen|refused|not running|no process",
                                    scene.containerd().socket().toString()),
                            () -> !scene.containerd().isAlive(),
                            () -> startIfDead(scene.containerd()));
                });
    }

    /** The runtime starts again and again. */
    static Standing restarts() {
        return Standing.runtime(Layer.CONTAINERD, Way.RESTARTS, "containerd is killed and started every 4 s", scene -> {
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
            return Standing.struck(
                    Truth.object("containerd's restarts", "restart|started|times", "restart", "times"),
                    () -> !stop.get(),
                    () -> {
                        stop.set(true);
                        loop.join();
                        startIfDead(scene.containerd());
                    });
        });
    }

    /** The runtime runs and who is connected goes on, so silence is right, too; but nothing new can connect. */
    static Standing socketFileGone() {
        return Standing.runtime(Layer.SOCKET, Way.GONE, "containerd's socket is removed", scene -> {
            Path socket = scene.containerd().socket();
            Files.delete(socket);
            return Standing.struck(
                    Truth.object(
                                    "no socket",
                                    "unreachable|listen|refused|no such file|does not exist|missing",
                                    socket.toString())
                            .orSilence(),
                    () -> !Files.exists(socket),
                    () -> {
                        if (!Files.exists(socket)) {
                            scene.containerd().terminate();
                        }
                        startIfDead(scene.containerd());
                    });
        });
    }

    /** Another program listens at the runtime's socket. */
    static Standing socketTaken(String answer, Way way, String text) {
        return Standing.runtime(
                Layer.SOCKET, way, "another program listens at containerd's socket and " + text, scene -> {
                    scene.containerd().terminate();
                    Path ready = scene.file("listening");
                    long pid = scene.helper(Programs.listener(scene.containerd().socket(), answer, ready), ready);
                    return Standing.struck(
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
        return Standing.runtime(
                Layer.SOCKET,
                Way.GARBAGE,
                "another containerd listens at the socket; the shims are not its own",
                scene -> {
                    scene.containerd().terminate();
                    Path socket = scene.containerd().socket();
                    Path config = scene.file("config.toml");
                    Path data = scene.containerd().directory().resolve("data");
                    Files.writeString(
                            config,
                            Files.readString(scene.containerd().directory().resolve("config.toml"))
                                    .replace(data + "/root", scene.file("root").toString())
                                    .replace(
                                            data + "/state", scene.file("state").toString()));
                    long pid = scene.helper(List.of("containerd", "--config", config.toString()), socket);
                    return Standing.struck(
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

    private static void startIfDead(Containerd containerd) throws Exception {
        if (!containerd.isAlive()) {
            containerd.start();
        }
    }
}
