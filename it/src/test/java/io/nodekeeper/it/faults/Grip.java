package io.nodekeeper.it.faults;

import io.nodekeeper.it.Command;
import io.nodekeeper.it.ProcessFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** A way to stop a process from outside. */
enum Grip {
    SIGNAL("stopped with SIGSTOP", Way.SIGSTOP, "stopped|state T|SIGSTOP") {
        @Override
        Held hold(Scene scene, long pid) throws Exception {
            Command.signal(pid, "STOP");
            return new Held() {
                @Override
                public Set<Long> others() {
                    return Set.of();
                }

                @Override
                public boolean lasts() {
                    return ProcessFacts.state(pid) == 'T';
                }

                @Override
                public void release() throws Exception {
                    if (lasts()) {
                        Command.signal(pid, "CONT");
                    }
                }
            };
        }
    },
    TRACER("held by a tracer", Way.PTRACE, "trac|ptrace|debugger") {
        @Override
        Held hold(Scene scene, long pid) throws Exception {
            Path ready = scene.file("tracer-" + pid);
            long tracer = scene.helper(Programs.tracer(pid, ready), ready);
            return new Held() {
                @Override
                public Set<Long> others() {
                    return Set.of(tracer);
                }

                @Override
                public boolean lasts() {
                    return ProcessFacts.state(pid) == 't';
                }

                @Override
                public void release() {
                    Scene.end(tracer);
                }
            };
        }
    },
    FREEZER_V1("frozen by the freezer of cgroup v1", Way.FREEZER_V1, "froze|freez|thaw") {
        @Override
        Held hold(Scene scene, long pid) throws Exception {
            Frozen frozen = new Frozen(
                    pid, Path.of("/sys/fs/cgroup/freezer"), groupName(scene, pid), "freezer.state", "FROZEN", "THAWED");
            scene.closes(frozen::release);
            return frozen;
        }
    },
    FREEZER_V2("frozen by the freezer of cgroup v2", Way.FREEZER_V2, "froze|freez|thaw") {
        @Override
        Held hold(Scene scene, long pid) throws Exception {
            Frozen frozen = new Frozen(pid, unified(), groupName(scene, pid), "cgroup.freeze", "1", "0");
            scene.closes(frozen::release);
            return frozen;
        }
    };

    /** A process that does not run. */
    interface Held {
        /** Processes outside that are the cause. */
        Set<Long> others();

        boolean lasts() throws Exception;

        void release() throws Exception;
    }

    private final String text;
    private final Way way;
    private final String mechanism;

    Grip(String text, Way way, String mechanism) {
        this.text = text;
        this.way = way;
        this.mechanism = mechanism;
    }

    String text() {
        return text;
    }

    Way way() {
        return way;
    }

    /** What an accusation must mention. */
    String mechanism() {
        return mechanism;
    }

    /** What the mildest remedy says. */
    String remedy() {
        return switch (this) {
            case SIGNAL -> "CONT";
            case TRACER -> "kill -TERM|trac|detach|debugger";
            case FREEZER_V1, FREEZER_V2 -> "thaw|freez";
        };
    }

    /** Whether this kernel has it. */
    boolean possible() {
        return switch (this) {
            case SIGNAL, TRACER -> true;
            case FREEZER_V1 -> Files.isDirectory(Path.of("/sys/fs/cgroup/freezer"));
            case FREEZER_V2 -> Files.exists(unified().resolve("cgroup.procs"));
        };
    }

    abstract Held hold(Scene scene, long pid) throws Exception;

    private static Path unified() {
        Path hybrid = Path.of("/sys/fs/cgroup/unified");
        return Files.isDirectory(hybrid) ? hybrid : Path.of("/sys/fs/cgroup");
    }

    /** Below the runtime's own groups, so that the node's end removes them. */
    private static String groupName(Scene scene, long pid) {
        return scene.containerd().name() + "/held-" + scene.number() + "-" + pid;
    }

    /** A process in a frozen control group of its own; afterwards it is where it was. */
    private static final class Frozen implements Held {
        private final long pid;
        private final Path group;
        private final Path hierarchy;
        private final Path home;
        private final String file;
        private final String thawed;

        Frozen(long pid, Path hierarchy, String name, String file, String frozen, String thawed) throws IOException {
            this.pid = pid;
            this.file = file;
            this.thawed = thawed;
            this.hierarchy = hierarchy;
            home = hierarchy.resolve(home(pid, hierarchy).substring(1));
            group = Files.createDirectories(hierarchy.resolve(name));
            Files.writeString(group.resolve("cgroup.procs"), Long.toString(pid));
            Files.writeString(group.resolve(file), frozen);
        }

        private static String home(long pid, Path hierarchy) throws IOException {
            String controller = hierarchy.endsWith("freezer") ? ":freezer:" : "0::";
            return Files.readAllLines(Path.of("/proc", Long.toString(pid), "cgroup")).stream()
                    .filter(line -> line.contains(controller))
                    .map(line -> line.replaceFirst("^[^:]*:[^:]*:", ""))
                    .findFirst()
                    .orElse("/");
        }

        @Override
        public Set<Long> others() {
            return Set.of();
        }

        @Override
        public boolean lasts() throws IOException {
            return Files.exists(group.resolve(file))
                    && !Files.readString(group.resolve(file)).strip().equals(thawed)
                    && ProcessHandle.of(pid).isPresent();
        }

        @Override
        public void release() throws Exception {
            if (!Files.isDirectory(group)) {
                return;
            }
            Files.writeString(group.resolve(file), thawed);
            for (String process : Files.readAllLines(group.resolve("cgroup.procs"))) {
                try {
                    Files.writeString((Files.isDirectory(home) ? home : hierarchy).resolve("cgroup.procs"), process);
                } catch (IOException e) {
                    // It has ended.
                }
            }
            for (int i = 0; i < 50 && !group.toFile().delete(); i++) {
                Thread.sleep(20);
            }
        }
    }
}
