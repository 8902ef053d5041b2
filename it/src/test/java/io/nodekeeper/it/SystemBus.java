package io.nodekeeper.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.freedesktop.dbus.DBusPath;
import org.freedesktop.dbus.annotations.DBusInterfaceName;
import org.freedesktop.dbus.annotations.DBusMemberName;
import org.freedesktop.dbus.connections.impl.DBusConnection;
import org.freedesktop.dbus.connections.impl.DBusConnectionBuilder;
import org.freedesktop.dbus.interfaces.DBusInterface;
import org.freedesktop.dbus.interfaces.Properties;
import org.freedesktop.dbus.types.Variant;

/**
 * A real dbus-daemon and a real systemd-logind, apart from those of the machine. Of systemd there is only what logind asks when
 * it shuts the machine down; the machine goes on. Needs root.
 */
final class SystemBus implements AutoCloseable {
    private static final Path LOGIND = Path.of("/lib/systemd/systemd-logind");
    private static final Duration SOON = Duration.ofSeconds(20);

    private final String address;
    private final Process daemon;
    private final Process logind;
    private final DBusConnection connection;
    private final List<String> started = new CopyOnWriteArrayList<>();

    /** The part of systemd that logind and the agent use. */
    @DBusInterfaceName("org.freedesktop.systemd1.Manager")
    public interface Systemd extends DBusInterface {
        /** Answers with the path of the unit. */
        @DBusMemberName("LoadUnit")
        DBusPath loadUnit(String name);

        /** As {@link #loadUnit}. */
        @DBusMemberName("GetUnit")
        DBusPath getUnit(String name);

        /** Signals are wanted. */
        @DBusMemberName("Subscribe")
        void subscribe();

        /** What powers the machine off. */
        @DBusMemberName("StartUnit")
        DBusPath startUnit(String name, String mode);

        /** Sends a signal. */
        @DBusMemberName("KillUnit")
        void killUnit(String name, String who, int signal);
    }

    SystemBus(Path directory) throws Exception {
        Command.find("dbus-daemon", "dbus-daemon");
        Command.find("systemd-inhibit", "systemd");
        if (!Files.isExecutable(LOGIND)) {
            throw Command.missing(LOGIND.toString(), "systemd");
        }
        Path socket = directory.resolve("bus.sock");
        address = "unix:path=" + socket;
        Path config = Files.writeString(directory.resolve("bus.conf"), """
                <busconfig>
                  <type>system</type>
                  <listen>%s</listen>
                  <auth>EXTERNAL</auth>
                  <policy context="default">
                    <allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/>
                    <allow eavesdrop="true"/>
                  </policy>
                </busconfig>
                """.formatted(address));
        daemon = start(directory, "bus", "dbus-daemon", "--config-file=" + config, "--nofork", "--nopidfile");
        Eventually.within(SOON, () -> Files.exists(socket));
        connection = DBusConnectionBuilder.forAddress(address).withShared(false).build();
        connection.requestBusName("org.freedesktop.systemd1");
        connection.exportObject(new Manager());
        connection.exportObject(new PowerOff());
        // Without the right to halt, and with a directory for its state that nobody else has.
        logind = start(
                directory,
                "logind",
                "setpriv",
                "--bounding-set=-sys_boot",
                "--inh-caps=-sys_boot",
                "unshare",
                "-m",
                "--propagation",
                "private",
                "sh",
                "-c",
                "mount -t tmpfs tmpfs /run && mkdir -p /run/systemd && exec " + LOGIND);
        Eventually.within(
                SOON,
                () -> call(
                                "Get",
                                "org.freedesktop.DBus.Properties",
                                "ss",
                                "org.freedesktop.login1.Manager",
                                "InhibitDelayMaxUSec")
                        .contains("t "));
    }

    private Process start(Path directory, String name, String... command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(name + ".log").toFile());
        builder.environment().put("DBUS_SYSTEM_BUS_ADDRESS", address);
        Process process = builder.start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "kill " + name));
        return process;
    }

    private String call(String method, String type, String signature, String... arguments) throws Exception {
        List<String> command = new CopyOnWriteArrayList<>(List.of(
                "busctl",
                "--address=" + address,
                "call",
                "org.freedesktop.login1",
                "/org/freedesktop/login1",
                type,
                method,
                signature));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String text = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        process.waitFor();
        return text;
    }

    /** Of the bus. */
    String address() {
        return address;
    }

    /** Asks logind to power the machine off. */
    void powerOff() throws Exception {
        String answer = call("PowerOff", "org.freedesktop.login1.Manager", "b", "false");
        if (!answer.isBlank()) {
            throw new AssertionError("logind does not power off: " + answer);
        }
    }

    /** Sends logind's signal in its place. */
    void pretendShutdown() throws Exception {
        Command.ok(
                "busctl",
                "--address=" + address,
                "emit",
                "/org/freedesktop/login1",
                "org.freedesktop.login1.Manager",
                "PrepareForShutdown",
                "b",
                "true");
    }

    /** What logind has asked systemd to start: what would have been the end of the machine. */
    List<String> started() {
        return started;
    }

    @Override
    public void close() {
        logind.destroyForcibly();
        connection.disconnect();
        daemon.destroyForcibly();
    }

    private final class Manager implements Systemd {
        @Override
        public DBusPath loadUnit(String name) {
            return new DBusPath(PowerOff.PATH);
        }

        @Override
        public DBusPath getUnit(String name) {
            return new DBusPath(PowerOff.PATH);
        }

        @Override
        public void subscribe() {}

        @Override
        public DBusPath startUnit(String name, String mode) {
            started.add(name);
            return new DBusPath("/org/freedesktop/systemd1/job/1");
        }

        @Override
        public void killUnit(String name, String who, int signal) {
            try {
                Command.signal(logind.pid(), Integer.toString(signal));
            } catch (Exception e) {
                throw new IllegalStateException("no signal to logind", e);
            }
        }

        @Override
        public String getObjectPath() {
            return "/org/freedesktop/systemd1";
        }
    }

    /** The target that powers the machine off. */
    private static final class PowerOff implements Properties {
        static final String PATH = "/org/freedesktop/systemd1/unit/poweroff_2etarget";

        @Override
        @SuppressWarnings("unchecked")
        public <A> A Get(String type, String property) {
            return (A) (property.equals("LoadState") ? "loaded" : property.equals("ActiveState") ? "inactive" : "");
        }

        @Override
        public <A> void Set(String type, String property, A value) {}

        @Override
        public java.util.Map<String, Variant<?>> GetAll(String type) {
            return java.util.Map.of();
        }

        @Override
        public String getObjectPath() {
            return PATH;
        }
    }
}
