package io.nodekeeper.it.faults;

import io.nodekeeper.it.Command;
import io.nodekeeper.it.ProcessFacts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/** An empty FUSE file system of 1,000 blocks whose server can fall silent. Its end ends the server and the mount. */
final class Fuse {
    private final Path mountPoint;
    private final Path silent;
    private final long server;

    private Fuse(Path mountPoint, Path silent, long server) {
        this.mountPoint = mountPoint;
        this.silent = silent;
        this.server = server;
    }

    static Fuse mount(Scene scene) throws Exception {
        return mount(scene, scene.file("fuse"), Optional.empty());
    }

    /** Mounted at {@code mountPoint}, which is outside of the scene's directory. */
    static Fuse mountAt(Scene scene, Path mountPoint) throws Exception {
        return mount(scene, mountPoint, Optional.empty());
    }

    /** Its server has ended, but a child of it has the connection open, so that a process that reads it waits. */
    static Fuse orphaned(Scene scene) throws Exception {
        Path heir = scene.file("heir");
        Fuse fuse = mount(scene, scene.file("fuse"), Optional.of(heir));
        long child = Commands.numbers(heir).iterator().next();
        scene.closes(() -> Scene.end(child));
        Scene.end(fuse.server);
        return new Fuse(fuse.mountPoint, fuse.silent, child);
    }

    private static Fuse mount(Scene scene, Path mountPoint, Optional<Path> heir) throws Exception {
        Files.createDirectories(mountPoint);
        Path silent = scene.file("silent");
        Path ready = scene.file("mounted");
        scene.closes(() -> Command.run(Duration.ofSeconds(10), "umount", "-l", mountPoint.toString()));
        return new Fuse(mountPoint, silent, scene.helper(Programs.fuse(mountPoint, silent, heir, ready), ready));
    }

    Path mountPoint() {
        return mountPoint;
    }

    long server() {
        return server;
    }

    /** From now on it takes requests and answers none. */
    void silence() throws Exception {
        Files.writeString(silent, "");
    }

    /** From now on it answers each request after so many seconds. */
    void slow(int seconds) throws Exception {
        Files.writeString(silent, Integer.toString(seconds));
    }

    /** Whether it is as it was mounted and silenced. */
    boolean lasts() {
        char state = ProcessFacts.state(server);
        return state != 'X' && state != 'Z';
    }

    /** Ends the server: the processes that wait for it get an error. */
    void end() {
        Scene.end(server);
    }

    /** The cause. */
    Truth truth(Set<Long> others) {
        Set<Long> pids = new TreeSet<>(others);
        pids.add(server);
        return Truth.process("the FUSE server", () -> pids, "fuse|file system").or(mountPoint.toString());
    }

    /** A command that looks at it. */
    Obstacle.InPlace obstacle(Set<Long> others) {
        return new Obstacle.InPlace() {
            @Override
            public String shell() {
                return "ls -d " + mountPoint + "/missing";
            }

            @Override
            public Truth truth(Supplier<Set<Long>> commands) {
                return Fuse.this.truth(others);
            }

            @Override
            public boolean lasts(Set<Long> commands) {
                return Fuse.this.lasts();
            }

            @Override
            public void remove() {
                end();
            }
        };
    }
}
