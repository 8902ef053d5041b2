package io.nodekeeper.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/**
 * A real systemd that is process 1 of namespaces of its own, and owns a subtree of each cgroup hierarchy, with a real
 * dbus-daemon. Network and files are those of the machine. All that runs in it ends with it. Needs root.
 */
final class SystemdMachine implements AutoCloseable {
    private static final Path SYSTEMD = Path.of("/lib/systemd/systemd");
    /** The configuration of the system bus. */
    private static final Path BUS = Path.of("/usr/share/dbus-1/system.conf");

    private static final Duration SOON = Duration.ofSeconds(30);
    /** What could harm the machine itself. */
    private static final String WITHOUT = "-sys_boot,-sys_time,-sys_module";

    /** Arguments: the directory, the names of the hierarchies of version 1. Without those there is one of version 2. */
    private static final String BEGIN = """
            set -e
            own=$1; shift
            mount --make-rprivate /
            mount -t tmpfs tmpfs /run
            mount -t proc proc /proc
            umount -R /sys/fs/cgroup
            if [ $# = 0 ]; then
              mount -t cgroup2 cgroup2 /sys/fs/cgroup
            else
              mount -t tmpfs tmpfs /sys/fs/cgroup
              for controllers; do
                mkdir "/sys/fs/cgroup/$controllers"
                case $controllers in
                  systemd) mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd;;
                  unified) mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified;;
                  *) mount -t cgroup -o "$controllers" cgroup "/sys/fs/cgroup/$controllers";;
                esac
              done
            fi
            # Also where systemd itself keeps what others tell it.
            export container=test SYSTEMD_UNIT_PATH=/run/systemd/system.control:/run/systemd/transient:$own
            exec setpriv --bounding-set=%1$s --inh-caps=%1$s %2$s --system --unit=bus.target --log-target=console \\
              --show-status=0
            """.formatted(WITHOUT, SYSTEMD);

    private final String name =
            "nk" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
    private final Process process;
    private final Path log;

    SystemdMachine(Path directory) throws Exception {
        Command.find("dbus-daemon", "dbus-daemon");
        if (!Files.isExecutable(SYSTEMD)) {
            throw Command.missing(SYSTEMD.toString(), "systemd");
        }
        if (!Files.isReadable(BUS)) {
            throw Command.missing(BUS.toString(), "dbus");
        }
        Path units = Files.createDirectories(directory.resolve("units"));
        log = directory.resolve("systemd.log");
        Path bus = Files.writeString(directory.resolve("bus.conf"), """
                <busconfig>
                  <type>system</type>
                  <listen>unix:path=/run/dbus/system_bus_socket</listen>
                  <auth>EXTERNAL</auth>
                  <policy context="default">
                    <allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/>
                    <allow eavesdrop="true"/>
                  </policy>
                </busconfig>
                """);
        Files.writeString(units.resolve("bus.target"), """
                [Unit]
                Requires=dbus.service
                After=dbus.service
                """);
        Files.writeString(units.resolve("dbus.socket"), """
                [Unit]
                DefaultDependencies=no
                [Socket]
                ListenStream=/run/dbus/system_bus_socket
                """);
        Files.writeString(units.resolve("dbus.service"), """
                [Unit]
                DefaultDependencies=no
                Requires=dbus.socket
                [Service]
                Type=exec
                ExecStart=dbus-daemon --config-file=%s --address=systemd: --nofork --nopidfile --systemd-activation
                Restart=always
                RestartSec=200ms
                """.formatted(bus));
        List<String> command = new ArrayList<>(List.of(
                "unshare",
                "--pid",
                "--mount",
                "--uts",
                "--ipc",
                "--cgroup",
                "--fork",
                "--kill-child=KILL",
                "sh",
                "-c",
                BEGIN,
                "sh",
                units.toString()));
        List<Path> hierarchies = Leftovers.hierarchies();
        for (Path hierarchy : hierarchies) {
            Path own = Files.createDirectories(hierarchy.resolve(name));
            if (Files.exists(own.resolve("cpuset.cpus")) && hierarchies.size() > 1) {
                // Version 1 gives a new cgroup no processors.
                for (String file : List.of("cpuset.cpus", "cpuset.mems")) {
                    Files.writeString(own.resolve(file), Files.readString(hierarchy.resolve(file)));
                }
            }
            if (hierarchies.size() > 1) {
                command.add(hierarchy.getFileName().toString());
            }
        }
        process = new ProcessBuilder(inCgroups("", command))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "end systemd"));
        try {
            Eventually.within(SOON, this::answers);
        } catch (AssertionError e) {
            close();
            throw new AssertionError("systemd does not answer: " + Files.readString(log), e);
        }
    }

    private boolean answers() throws Exception {
        if (!process.isAlive()) {
            throw new AssertionError("systemd ended: " + Files.readString(log));
        }
        return process.children().findAny().isPresent()
                && Command.run(
                                        SOON,
                                        inside(List.of("systemctl", "is-active", "dbus.service"))
                                                .toArray(String[]::new))
                                .code()
                        == 0;
    }

    /** Runs {@code command} in {@code place} of the subtree of each hierarchy. */
    private List<String> inCgroups(String place, List<String> command) throws IOException {
        String places = String.join(
                " ",
                Leftovers.hierarchies().stream()
                        .map(hierarchy -> hierarchy
                                .resolve(name)
                                .resolve(place)
                                .resolve("cgroup.procs")
                                .toString())
                        .toList());
        List<String> all = new ArrayList<>(List.of(
                "sh", "-c", "set -e; for place in " + places + "; do echo $$ >$place; done; exec \"$@\"", "sh"));
        all.addAll(command);
        return all;
    }

    /** The command that runs {@code command} in it, as one of its processes. */
    List<String> inside(List<String> command) throws IOException {
        List<String> all =
                new ArrayList<>(List.of("nsenter", "-t", Long.toString(pid()), "-p", "-m", "-u", "-i", "-C"));
        all.addAll(command);
        List<Path> hierarchies = Leftovers.hierarchies();
        if (hierarchies.size() > 1) {
            return inCgroups("", all);
        }
        // With version 2 a process may not be beside cgroups that have controllers.
        Files.createDirectories(hierarchies.getFirst().resolve(name).resolve("outside"));
        return inCgroups("outside", all);
    }

    /** Process 1, as the machine sees it. */
    private long pid() {
        return process.children().findFirst().orElseThrow().pid();
    }

    /** The output of a command in it. */
    String ok(String... command) throws Exception {
        return Command.ok(inside(List.of(command)).toArray(String[]::new));
    }

    /** Where {@code place} is in the hierarchy of a controller. */
    Path cgroup(String controller, String place) throws IOException {
        return Leftovers.hierarchies().stream()
                .filter(hierarchy ->
                        List.of(hierarchy.getFileName().toString().split(",")).contains(controller))
                .findFirst()
                .orElse(Path.of("/sys/fs/cgroup"))
                .resolve(name)
                .resolve(place.substring(1));
    }

    /** All directories of its cgroups, in all hierarchies. */
    List<Path> cgroups() throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path hierarchy : Leftovers.hierarchies()) {
            Path own = hierarchy.resolve(name);
            if (Files.exists(own)) {
                try (Stream<Path> tree = Files.walk(own)) {
                    tree.filter(Files::isDirectory).forEach(found::add);
                }
            }
        }
        return found;
    }

    @Override
    public void close() throws Exception {
        process.destroyForcibly();
        // The kernel ends all that is in the namespace, and then its cgroups are empty.
        Eventually.within(SOON, () -> {
            for (Path directory :
                    cgroups().stream().sorted(Comparator.reverseOrder()).toList()) {
                try {
                    Files.deleteIfExists(directory);
                } catch (IOException e) {
                    return false;
                }
            }
            return true;
        });
    }
}
