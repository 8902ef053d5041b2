package io.nodekeeper.agent.shutdown;

import io.nodekeeper.agent.systemd.SystemBus;
import io.nodekeeper.agent.systemd.SystemdManager;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.freedesktop.dbus.annotations.DBusInterfaceName;
import org.freedesktop.dbus.connections.impl.DBusConnection;
import org.freedesktop.dbus.exceptions.DBusException;
import org.freedesktop.dbus.exceptions.DBusExecutionException;
import org.freedesktop.dbus.interfaces.DBusInterface;
import org.freedesktop.dbus.interfaces.Properties;
import org.freedesktop.dbus.messages.DBusSignal;
import org.freedesktop.dbus.types.UInt64;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * systemd's logind, by D-Bus. The lock is a descriptor, which the Java library cannot receive over the machine's own sockets, so
 * {@code systemd-inhibit} holds it, and lets it go when its standard input ends: also when this process is killed.
 *
 * @param bus the address of the system bus
 * @param drop where the longest delay is configured, usually {@link #DROP}
 */
public record SystemdLogind(String bus, Path drop) implements Logind {
    /** The kubelet's file. */
    public static final Path DROP = Path.of("/etc/systemd/logind.conf.d/99-kubelet.conf");

    private static final Logger log = LoggerFactory.getLogger(SystemdLogind.class);
    private static final String NAME = "org.freedesktop.login1";
    private static final String PATH = "/org/freedesktop/login1";
    private static final String MANAGER = "org.freedesktop.login1.Manager";
    private static final int SIGHUP = 1;
    /** The lock is taken in milliseconds; {@code systemd-inhibit} ends at once if it is refused. */
    private static final Duration REFUSED = Duration.ofMillis(300);

    /** The logind of this machine. */
    public static SystemdLogind ofMachine() {
        return new SystemdLogind(SystemBus.address(), DROP);
    }

    /** The part of logind that is used. */
    @DBusInterfaceName("org.freedesktop.login1.Manager")
    public interface Manager extends DBusInterface {
        /** A shutdown begins, or was cancelled. */
        class PrepareForShutdown extends DBusSignal {
            /** Whether it begins. */
            public final boolean start;

            /** As the library calls it. */
            public PrepareForShutdown(String path, boolean start) throws DBusException {
                super(path, start);
                this.start = start;
            }
        }
    }

    @Override
    public Session connect(Consumer<Boolean> shutdown, Runnable lost) throws IOException {
        try {
            DBusConnection connection = SystemBus.connect(bus, error -> lost.run());
            try {
                BusSession session = new BusSession(connection);
                connection.addSigHandler(
                        Manager.PrepareForShutdown.class, signal -> shutdown.accept(session.confirms(signal.start)));
                return session;
            } catch (DBusException | RuntimeException e) {
                connection.disconnect();
                throw e;
            }
        } catch (DBusException | DBusExecutionException e) {
            throw new IOException("no connection to logind at " + bus + ": " + e.getMessage(), e);
        }
    }

    private final class BusSession implements Session {
        private final DBusConnection connection;

        BusSession(DBusConnection connection) {
            this.connection = connection;
        }

        private <T> T property(String name) throws IOException {
            try {
                return connection.getRemoteObject(NAME, PATH, Properties.class).<T>Get(MANAGER, name);
            } catch (DBusException | DBusExecutionException e) {
                throw new IOException("logind does not tell " + name + ": " + e.getMessage(), e);
            }
        }

        @Override
        public Duration longestDelay() throws IOException {
            UInt64 micros = property("InhibitDelayMaxUSec");
            return Duration.ofMillis(micros.longValue() / 1_000);
        }

        @Override
        public boolean isShuttingDown() throws IOException {
            return this.<Boolean>property("PreparingForShutdown");
        }

        /** What logind itself says: every user of the bus may send the signal. */
        boolean confirms(boolean signalled) {
            try {
                return isShuttingDown();
            } catch (IOException e) {
                log.warn("A signal of logind is believed without a question: {}", e.getMessage());
                return signalled;
            }
        }

        @Override
        public void extendDelay(Duration delay) throws IOException {
            String text = """
                    # Nodekeeper: time for pods to end before the machine
                    [Login]
                    InhibitDelayMaxSec=%d
                    """.formatted(delay.plusNanos(999_999_999).toSeconds());
            Files.createDirectories(drop.toAbsolutePath().getParent());
            Files.writeString(drop, text, StandardCharsets.UTF_8);
            try {
                connection
                        .getRemoteObject("org.freedesktop.systemd1", "/org/freedesktop/systemd1", SystemdManager.class)
                        .killUnit("systemd-logind.service", "all", SIGHUP);
            } catch (DBusException | DBusExecutionException e) {
                throw new IOException("logind does not read " + drop + ": " + e.getMessage(), e);
            }
        }

        @Override
        public Lock delayShutdown() throws IOException {
            ProcessBuilder inhibit = new ProcessBuilder(List.of(
                            "systemd-inhibit",
                            "--what=shutdown",
                            "--who=kubelet",
                            "--why=Kubelet needs time to handle node shutdown",
                            "--mode=delay",
                            "cat"))
                    .redirectErrorStream(true);
            inhibit.environment().put("DBUS_SYSTEM_BUS_ADDRESS", bus);
            Process process = inhibit.start();
            try {
                if (process.waitFor(REFUSED.toMillis(), TimeUnit.MILLISECONDS)) {
                    throw new IOException("systemd-inhibit ended: "
                            + new String(process.getInputStream().readNBytes(1_000), StandardCharsets.UTF_8).strip());
                }
            } catch (InterruptedException e) {
                process.destroyForcibly();
                Thread.currentThread().interrupt();
                throw new IOException("interrupted while the lock was taken", e);
            }
            return () -> release(process);
        }

        @Override
        public void close() {
            connection.disconnect();
        }
    }

    /** Ends the standard input, upon which the lock is let go. */
    private static void release(Process process) {
        try {
            process.getOutputStream().close();
            if (process.waitFor(REFUSED.toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (IOException e) {
            log.debug("systemd-inhibit: {}", e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.destroyForcibly();
    }
}
