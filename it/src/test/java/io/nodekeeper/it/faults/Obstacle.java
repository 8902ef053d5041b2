package io.nodekeeper.it.faults;

import io.nodekeeper.it.Command;
import io.nodekeeper.it.LoopDisk;
import io.nodekeeper.it.ProcessFacts;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * What keeps a command of the runtime from ending.
 *
 * @param layer where the cause is; empty if it is the command itself
 * @param text in the words "because it …"
 */
record Obstacle(Optional<Layer> layer, Way way, String text, Setup setup) {
    private static final String ADDRESS_LOCK = "waits for host-local's lock of a process outside";
    /** A reader gets the end of the file at once. */
    private static final Path NOTHING = Path.of("/dev/null");
    /** A writer gets an error at once. */
    private static final Path FULL = Path.of("/dev/full");

    private Obstacle(Way way, String text, Setup setup) {
        this(Optional.empty(), way, text, setup);
    }

    private Obstacle(Layer layer, Way way, String text, Setup setup) {
        this(Optional.of(layer), way, text, setup);
    }

    /** Whether the pod network gives no addresses meanwhile. */
    boolean locksAddresses() {
        return text.equals(ADDRESS_LOCK);
    }

    /** Puts it in place. */
    interface Setup {
        InPlace put(Scene scene) throws Exception;
    }

    /** An obstacle that waits for a command. */
    interface InPlace {
        /** What the command runs. */
        String shell();

        /** The command with this pid has come to the obstacle. */
        default void reached(long pid) throws Exception {}

        /** The cause; {@code commands} are the processes that came. */
        Truth truth(Supplier<Set<Long>> commands);

        /** Whether the cause is still there. */
        boolean lasts(Set<Long> commands) throws Exception;

        default void remove() throws Exception {}
    }

    /** The command itself is stopped from outside. */
    static Obstacle held(Grip grip) {
        return new Obstacle(grip.way(), "is " + grip.text(), scene -> {
            Path door = fifo(scene, "door-" + grip);
            List<Grip.Held> held = new ArrayList<>();
            return new InPlace() {
                @Override
                public String shell() {
                    return "read line <" + door;
                }

                @Override
                public void reached(long pid) throws Exception {
                    held.add(grip.hold(scene, pid));
                    // It could go on now: only the grip holds it.
                    RandomAccessFile writer = new RandomAccessFile(door.toFile(), "rw");
                    scene.closes(writer);
                    writer.write("go\n".getBytes(StandardCharsets.US_ASCII));
                }

                @Override
                public Truth truth(Supplier<Set<Long>> commands) {
                    return Truth.process(
                                    "the command, " + grip.text(), () -> union(commands.get(), held), grip.mechanism())
                            .mildly(grip.remedy());
                }

                @Override
                public boolean lasts(Set<Long> commands) throws Exception {
                    for (Grip.Held one : held) {
                        if (one.lasts()) {
                            return true;
                        }
                    }
                    return false;
                }

                @Override
                public void remove() throws Exception {
                    for (Grip.Held one : held) {
                        one.release();
                    }
                    release(door, NOTHING);
                }
            };
        });
    }

    /** It waits for a lock that a process outside of the runtime holds, itself running or stopped. */
    static Obstacle lock(boolean record, boolean stopped) {
        String kind = record ? "record lock (fcntl)" : "flock";
        return new Obstacle(
                Way.LOCK, "waits for a " + kind + " of a " + (stopped ? "stopped " : "") + "process outside", scene -> {
                    Path file = scene.file("lock");
                    Path ready = scene.file("locked");
                    long holder = scene.helper(Programs.lock(file, record, ready), ready);
                    if (stopped) {
                        Command.signal(holder, "STOP");
                    }
                    return outside("the lock's holder", holder, "lock", Programs.takeLock(file, record));
                });
    }

    /** It waits for a mutex in memory that it shares with a process outside, itself running or stopped. */
    static Obstacle mutex(boolean stopped) {
        return new Obstacle(
                Way.LOCK,
                "waits for a mutex in shared memory of a " + (stopped ? "stopped " : "") + "process outside",
                scene -> {
                    Path file = scene.file("mutex");
                    Path ready = scene.file("locked");
                    long holder = scene.helper(Programs.mutex(file, ready), ready);
                    if (stopped) {
                        Command.signal(holder, "STOP");
                    }
                    return outside("the mutex's holder", holder, "lock", Programs.takeMutex(file, holder));
                });
    }

    /** The address manager waits for the lock of its own directory. */
    static Obstacle addressLock() {
        return new Obstacle(Way.LOCK, ADDRESS_LOCK, scene -> {
            Path file = scene.containerd().addressLock();
            Path ready = scene.file("locked");
            long holder = scene.helper(Programs.lock(file, false, ready), ready);
            return outside("the lock's holder", holder, "lock", ":");
        });
    }

    /** It reads from a pipe whose other end an outsider holds. */
    static Obstacle pipe(boolean stopped) {
        return new Obstacle(
                Way.PIPE,
                "reads a pipe that a " + (stopped ? "stopped " : "") + "process outside holds open",
                scene -> {
                    Path fifo = fifo(scene, "pipe");
                    Path ready = scene.file("opened");
                    long writer = scene.helper(Programs.writer(fifo, ready), ready);
                    if (stopped) {
                        Command.signal(writer, "STOP");
                    }
                    return atPipe(fifo, NOTHING, outside("the pipe's writer", writer, "pipe|fifo", "cat " + fifo));
                });
    }

    /** It writes to a pipe that is full, whose reader reads nothing. */
    static Obstacle fullPipe() {
        return new Obstacle(Way.PIPE, "writes to a full pipe that a process outside does not read", scene -> {
            Path fifo = fifo(scene, "full");
            Path ready = scene.file("opened");
            long reader = scene.helper(Programs.writer(fifo, ready), ready);
            return atPipe(fifo, FULL, outside("the pipe's reader", reader, "pipe|fifo", "cat /dev/zero >" + fifo));
        });
    }

    /** It has ended, but an orphan of it holds its output open. */
    static Obstacle orphan() {
        return new Obstacle(Way.PIPE, "has left an orphan that holds its output open", scene -> {
            Path pid = scene.file("orphan");
            scene.closes(() -> numbers(pid).forEach(Scene::end));
            return new InPlace() {
                @Override
                public String shell() {
                    return "setsid sleep 1000000 & echo $! >>" + pid;
                }

                @Override
                public Truth truth(Supplier<Set<Long>> commands) {
                    return Truth.process("the orphan", () -> numbers(pid), "pipe|output|stdout|holds");
                }

                @Override
                public boolean lasts(Set<Long> commands) {
                    return numbers(pid).stream().anyMatch(Obstacle::alive);
                }

                @Override
                public void remove() {
                    numbers(pid).forEach(Scene::end);
                }
            };
        });
    }

    /** It waits for the answer of a daemon that does not answer, for this reason. */
    static Obstacle daemon(Grip grip) {
        return new Obstacle(Layer.DAEMON, grip.way(), "waits for its daemon, which is " + grip.text(), scene -> {
            Path socket = socket(scene);
            Path ready = scene.file("listening");
            long daemon = scene.helper(Programs.listener(socket, "silent", ready), ready);
            Grip.Held held = grip.hold(scene, daemon);
            InPlace plain = outside("the daemon", daemon, "socket|daemon|" + grip.mechanism(), Programs.ask(socket));
            return new Delegate(plain) {
                @Override
                public Truth truth(Supplier<Set<Long>> commands) {
                    return Truth.process(
                                    "the daemon",
                                    () -> union(Set.of(daemon), List.of(held)),
                                    "socket|daemon|" + grip.mechanism())
                            .mildly(grip.remedy());
                }

                @Override
                public boolean lasts(Set<Long> commands) throws Exception {
                    return held.lasts();
                }

                @Override
                public void remove() throws Exception {
                    held.release();
                    Scene.end(daemon);
                }
            };
        });
    }

    /** It waits for the answer of a daemon that takes requests and does not answer. */
    static Obstacle daemon() {
        return new Obstacle(Layer.DAEMON, Way.SILENT, "waits for its daemon, which does not answer", scene -> {
            Path socket = socket(scene);
            Path ready = scene.file("listening");
            long daemon = scene.helper(Programs.listener(socket, "silent", ready), ready);
            return outside("the daemon", daemon, "socket|daemon|connect", Programs.ask(socket));
        });
    }

    /** It looks at a FUSE file system whose server takes requests and does not answer. */
    static Obstacle fuse() {
        return new Obstacle(
                Layer.FILE_SERVER, Way.SILENT, "looks at a FUSE file system that does not answer", scene -> {
                    Fuse fuse = Fuse.mount(scene);
                    fuse.silence();
                    return fuse.obstacle(Set.of());
                });
    }

    /** It looks at a FUSE file system that answers, but far too late, as a file server behind a bad network does. */
    static Obstacle slowFuse() {
        return new Obstacle(
                Layer.FILE_SERVER, Way.SLOW, "looks at a FUSE file system that answers after 90 s", scene -> {
                    Fuse fuse = Fuse.mount(scene);
                    fuse.slow(90);
                    return fuse.obstacle(Set.of());
                });
    }

    /** It looks at a FUSE file system whose server has ended; an heir has the connection open and reads nothing. */
    static Obstacle orphanedFuse() {
        return new Obstacle(
                Layer.FILE_SERVER,
                Way.GONE,
                "looks at a FUSE file system whose server has ended",
                scene -> Fuse.orphaned(scene).obstacle(Set.of()));
    }

    /** It looks at a FUSE file system whose server is held. */
    static Obstacle fuse(Grip grip) {
        String text = "looks at a FUSE file system whose server is " + grip.text();
        return new Obstacle(Layer.FILE_SERVER, grip.way(), text, scene -> {
            Fuse fuse = Fuse.mount(scene);
            Grip.Held held = grip.hold(scene, fuse.server());
            InPlace plain = fuse.obstacle(held.others());
            return new Delegate(plain) {
                @Override
                public boolean lasts(Set<Long> commands) throws Exception {
                    return held.lasts() && plain.lasts(commands);
                }

                @Override
                public void remove() throws Exception {
                    held.release();
                    plain.remove();
                }
            };
        });
    }

    /** It writes to a frozen disk. */
    static Obstacle disk() {
        return new Obstacle(Layer.DISK, Way.D_STATE, "writes to a frozen disk", scene -> {
            LoopDisk disk = scene.disk();
            disk.freeze();
            Path mount = scene.file("volume");
            return new InPlace() {
                @Override
                public String shell() {
                    return "echo x >" + mount + "/file";
                }

                @Override
                public Truth truth(Supplier<Set<Long>> commands) {
                    // It names this mount, or none: another one would be wrong.
                    return Truth.process(
                            "the frozen disk", commands, "a file system or disk|at " + Pattern.quote(mount.toString()));
                }

                @Override
                public boolean lasts(Set<Long> commands) {
                    return commands.stream().anyMatch(pid -> ProcessFacts.state(pid) == 'D');
                }

                @Override
                public void remove() throws Exception {
                    disk.thawIfFrozen();
                }
            };
        });
    }

    /** It does not end by itself: it sleeps, or uses the processor. */
    static Obstacle itself(Way way) {
        return new Obstacle(way, way == Way.SPIN ? "uses the processor for ever" : "sleeps for ever", scene -> {
            Path go = scene.file("go-on");
            return new InPlace() {
                @Override
                public String shell() {
                    // One step in 20 ms of each 21: a loop that leaves the machine to others.
                    return way == Way.SPIN
                            ? "while [ ! -e " + go
                                    + " ]; do i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; sleep 0.02; done"
                            : "while [ ! -e " + go + " ]; do sleep 0.5; done";
                }

                @Override
                public Truth truth(Supplier<Set<Long>> commands) {
                    return Truth.process("the command itself", commands, "hung|not ended|ended");
                }

                @Override
                public boolean lasts(Set<Long> commands) {
                    return commands.stream().anyMatch(Obstacle::alive);
                }

                @Override
                public void remove() throws IOException {
                    Files.writeString(go, "");
                }
            };
        });
    }

    private static InPlace outside(String text, long pid, String mechanism, String shell) {
        return new InPlace() {
            @Override
            public String shell() {
                return shell;
            }

            @Override
            public Truth truth(Supplier<Set<Long>> commands) {
                return Truth.process(text, () -> Set.of(pid), mechanism);
            }

            @Override
            public boolean lasts(Set<Long> commands) {
                return alive(pid);
            }

            @Override
            public void remove() {
                Scene.end(pid);
            }
        };
    }

    private static InPlace atPipe(Path fifo, Path afterwards, InPlace obstacle) {
        return new Delegate(obstacle) {
            @Override
            public void remove() throws Exception {
                super.remove();
                release(fifo, afterwards);
            }
        };
    }

    /**
     * Nothing waits at the pipe any more: a later command finds {@code afterwards} in its place, which never blocks. A command of
     * another pod can come that late, because not each hook selects one pod.
     */
    private static void release(Path fifo, Path afterwards) throws IOException {
        Path link = fifo.resolveSibling(fifo.getFileName() + "-released");
        // Opened at both ends, it wakes those that wait for the other end while they open it; closed, it is at its end.
        try (RandomAccessFile both = new RandomAccessFile(fifo.toFile(), "rw")) {
            Files.createSymbolicLink(link, afterwards);
            Files.move(link, fifo, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private static boolean alive(long pid) {
        char state = ProcessFacts.state(pid);
        return state != 'X' && state != 'Z';
    }

    private static Path fifo(Scene scene, String name) throws Exception {
        Path fifo = scene.file(name);
        Command.ok("mkfifo", fifo.toString());
        return fifo;
    }

    /** At most 107 characters, which is what an address of a socket has. */
    private static Path socket(Scene scene) throws IOException {
        Path directory = Files.createTempDirectory("nk");
        scene.closes(() -> {
            Files.deleteIfExists(directory.resolve("s"));
            Files.deleteIfExists(directory);
        });
        return directory.resolve("s");
    }

    private static Set<Long> numbers(Path file) {
        return Commands.numbers(file);
    }

    private static Set<Long> union(Set<Long> pids, List<Grip.Held> held) {
        Set<Long> all = new TreeSet<>(pids);
        held.forEach(one -> all.addAll(one.others()));
        return all;
    }

    /** An obstacle that differs in some points. */
    private static class Delegate implements InPlace {
        private final InPlace plain;

        Delegate(InPlace plain) {
            this.plain = plain;
        }

        @Override
        public String shell() {
            return plain.shell();
        }

        @Override
        public Truth truth(Supplier<Set<Long>> commands) {
            return plain.truth(commands);
        }

        @Override
        public boolean lasts(Set<Long> commands) throws Exception {
            return plain.lasts(commands);
        }

        @Override
        public void remove() throws Exception {
            plain.remove();
        }
    }
}
