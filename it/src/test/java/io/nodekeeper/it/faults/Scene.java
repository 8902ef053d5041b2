package io.nodekeeper.it.faults;

import io.nodekeeper.it.Command;
import io.nodekeeper.it.Containerd;
import io.nodekeeper.it.Eventually;
import io.nodekeeper.it.LoopDisk;
import io.nodekeeper.it.Pods;
import io.nodekeeper.it.RealNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The place of one fault on a node: a pod of its own that it may hit, a directory, and helper programs outside of the
 * runtime. Closing it ends the helpers. Used by one thread.
 */
final class Scene implements AutoCloseable {
    private static final Duration SOON = Duration.ofSeconds(20);
    /** An agent sees a new pod within 2 s. */
    private static final Duration KNOWN = Duration.ofSeconds(4);

    private final RealNode node;
    private final String number;
    private final Path directory;
    private final Deque<AutoCloseable> parts = new ConcurrentLinkedDeque<>();
    /** If the run is ended from outside, frozen processes, mounts and helpers would outlive it. */
    private final Thread lastResort = new Thread(this::closeAtLast, "end scene");

    private final List<CompletableFuture<?>> begun = new ArrayList<>();
    private Pods.@Nullable RealPod victim;
    private @Nullable Census census;

    Scene(RealNode node, String number) throws IOException {
        this.node = node;
        this.number = number;
        directory = Files.createDirectory(node.directory().resolve("scene-" + number));
        Runtime.getRuntime().addShutdownHook(lastResort);
    }

    RealNode node() {
        return node;
    }

    Containerd containerd() {
        return node.containerd();
    }

    /** A file of this scene. */
    Path file(String name) {
        return directory.resolve(name);
    }

    /** Unique among the scenes of a node. */
    String number() {
        return number;
    }

    /** The pod that is hit. */
    Pods.RealPod victim() {
        Pods.RealPod pod = victim;
        if (pod == null) {
            pod = known(node.pods().run(victimName()));
        }
        return pod;
    }

    /** The pod that is hit runs {@code script} with a volume. */
    void victim(String script, Path volume) throws Exception {
        known(node.pods().run(victimName(), script, Map.of(volume, "/data")));
    }

    /** The processes of the pod that is hit, as they were before; empty if no pod is. */
    Optional<Census> census() {
        return Optional.ofNullable(census);
    }

    /** Waits until the agent knows it: a fault of a pod that just begins is another one. */
    private Pods.RealPod known(Pods.RealPod pod) {
        victim = pod;
        try {
            census = Census.of(node.containerd(), List.of(pod));
            long end = System.nanoTime() + KNOWN.toNanos();
            while (!node.page().pods().containsKey(pod.name()) && System.nanoTime() < end) {
                Thread.sleep(100);
            }
        } catch (Exception e) {
            throw new IllegalStateException("victim " + pod.name() + ": " + e, e);
        }
        return pod;
    }

    String victimName() {
        return "victim-" + number;
    }

    String newcomerName() {
        return "newcomer-" + number;
    }

    /** Begins to run a command in the victim, as a probe does. */
    void execInVictim() {
        begun.add(node.pods().exec(victim(), "/bin/sh", "-c", "true"));
    }

    /** Begins to stop the victim. */
    void stopVictim() {
        begun.add(node.pods().stop(victim()));
    }

    /** Begins to make a pod. */
    void startNewcomer() {
        begun.add(node.pods().begin(newcomerName()));
    }

    /** Whether something that was begun has not ended. */
    boolean waits() {
        return begun.stream().anyMatch(call -> !call.isDone());
    }

    /** Whether anything was begun. */
    boolean hasCalls() {
        return !begun.isEmpty();
    }

    /** Starts a program outside of the runtime's tree, and waits until it says that it is in effect. */
    long helper(List<String> command, Path ready) throws Exception {
        List<String> line = new ArrayList<>(List.of(
                "sh",
                "-c",
                "log=$1; shift; setsid \"$@\" >\"$log\" 2>&1 </dev/null & echo $!",
                "sh",
                file("helper.log").toString()));
        line.addAll(command);
        long pid = Long.parseLong(Command.ok(line.toArray(String[]::new)).strip());
        closes(() -> end(pid));
        try {
            Eventually.within(SOON, () -> Files.exists(ready));
        } catch (AssertionError e) {
            throw new AssertionError("helper did not start: " + Files.readString(file("helper.log")), e);
        }
        return pid;
    }

    /** Ends a process, if it is still there. */
    static void end(long pid) {
        ProcessHandle.of(pid).ifPresent(process -> {
            process.destroyForcibly();
            process.onExit().completeOnTimeout(process, 5, TimeUnit.SECONDS).join();
        });
    }

    /** A disk of its own. */
    LoopDisk disk() throws Exception {
        LoopDisk disk = LoopDisk.mount(file("volume.img"), file("volume"));
        parts.push(disk);
        return disk;
    }

    /** Runs before the scene is closed. */
    void closes(AutoCloseable part) {
        parts.push(part);
    }

    @Override
    public void close() throws Exception {
        Runtime.getRuntime().removeShutdownHook(lastResort);
        release();
    }

    private void closeAtLast() {
        try {
            release();
        } catch (Exception | Error e) {
            System.err.println("scene " + directory + ": " + e);
        }
    }

    private void release() throws Exception {
        Exception first = null;
        for (AutoCloseable part = parts.poll(); part != null; part = parts.poll()) {
            try {
                part.close();
            } catch (Exception e) {
                first = first == null ? e : first;
            }
        }
        if (first != null) {
            throw first;
        }
    }
}
