package io.nodekeeper.agent.systemd;

import io.nodekeeper.api.Failures;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.freedesktop.dbus.connections.impl.DBusConnection;
import org.freedesktop.dbus.exceptions.DBusException;
import org.freedesktop.dbus.exceptions.DBusExecutionException;
import org.freedesktop.dbus.interfaces.Properties;
import org.freedesktop.dbus.types.UInt64;
import org.freedesktop.dbus.types.Variant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The units of systemd, by D-Bus. There is one connection, which is made by the first call, and again by the next one after it
 * was lost. All methods block: the library waits 20 s at most for an answer, and a job is waited for as long as the
 * caller says. Thread-safe.
 */
public final class SystemdUnits implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SystemdUnits.class);
    private static final String NAME = "org.freedesktop.systemd1";
    private static final String PATH = "/org/freedesktop/systemd1";
    /** A newer job takes the place of an older one for the same unit. */
    private static final String REPLACE = "replace";

    private static final String UNIT = NAME + ".Unit";

    private final String bus;
    /** By unit: the result of the job that is waited for. */
    private final Map<String, CompletableFuture<String>> jobs = new ConcurrentHashMap<>();

    private Optional<DBusConnection> open = Optional.empty();

    /** The units of the systemd at the bus with this address; makes no connection yet. */
    public SystemdUnits(String bus) {
        this.bus = bus;
    }

    private interface Call<T> {
        T run(DBusConnection connection) throws DBusException;
    }

    private interface ManagerCall {
        void run(SystemdManager manager);
    }

    /**
     * Starts a unit that no file describes; one that is active keeps its properties.
     *
     * @param properties numbers, which systemd takes as {@code t}, truth values, texts, and lists of texts
     * @param wait how long the start may take
     * @throws IOException if there is no systemd, it refuses, or the start takes longer
     */
    public void start(String unit, Map<String, Object> properties, Duration wait) throws IOException {
        // Asked before, because the library does not tell one refusal from another.
        if (!state(unit).equals("active")) {
            job(
                    "start of " + unit,
                    unit,
                    wait,
                    manager -> manager.startTransientUnit(unit, REPLACE, list(properties), List.of()));
        }
    }

    /**
     * Changes properties of a unit until it ends.
     *
     * @throws IOException if there is no systemd, or it refuses
     */
    public void set(String unit, Map<String, Object> properties) throws IOException {
        manage("properties of " + unit, manager -> manager.setUnitProperties(unit, true, list(properties)));
    }

    /**
     * Ends a slice and the units in it; nothing to do if there is none.
     *
     * @param wait how long the end may take
     * @throws IOException if there is no systemd, it refuses, or the end takes longer; systemd goes on with it
     */
    public void stop(String unit, Duration wait) throws IOException {
        if (!state(unit).equals("inactive")) {
            job("end of " + unit, unit, wait, manager -> manager.stopUnit(unit, REPLACE));
        }
    }

    /** {@code active} and the like; {@code inactive} for a slice that systemd does not know. */
    private String state(String unit) throws IOException {
        return call(
                "state of " + unit,
                connection -> connection
                        .getRemoteObject(NAME, PATH + "/unit/" + escaped(unit), Properties.class)
                        .<String>Get(UNIT, "ActiveState"));
    }

    /** The name of a unit as a part of a path of D-Bus. */
    static String escaped(String unit) {
        StringBuilder path = new StringBuilder();
        unit.chars()
                .forEach(letter -> path.append(
                        letter < 128 && Character.isLetterOrDigit(letter)
                                ? Character.toString(letter)
                                : "_%02x".formatted(letter)));
        return path.toString();
    }

    private void job(String what, String unit, Duration wait, ManagerCall call) throws IOException {
        // Registered before the call: the signal may be quicker than the answer.
        CompletableFuture<String> job = jobs.computeIfAbsent(unit, name -> new CompletableFuture<>());
        try {
            manage(what, call);
            String result = job.get(wait.toMillis(), TimeUnit.MILLISECONDS);
            if (!result.equals("done")) {
                throw new IOException("the " + what + " ended with the result " + result + "; expected done");
            }
        } catch (TimeoutException e) {
            throw new IOException("systemd did not finish the " + what + " within " + wait.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            throw new IOException("the end of the " + what + " is not known: " + Failures.text(e), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted during the " + what, e);
        } finally {
            jobs.remove(unit, job);
        }
    }

    private void manage(String what, ManagerCall call) throws IOException {
        call(what, connection -> {
            call.run(connection.getRemoteObject(NAME, PATH, SystemdManager.class));
            return true;
        });
    }

    private <T> T call(String what, Call<T> call) throws IOException {
        DBusConnection connection = connection();
        try {
            return call.run(connection);
        } catch (DBusExecutionException e) {
            if (connection.isConnected()) {
                throw new IOException("systemd refuses the " + what + ": " + e.getMessage(), e);
            }
            throw lost(what, e);
        } catch (DBusException e) {
            throw lost(what, e);
        }
    }

    private IOException lost(String what, Exception e) {
        close();
        return new IOException("no " + what + " by systemd: " + e.getMessage(), e);
    }

    private synchronized DBusConnection connection() throws IOException {
        if (open.filter(DBusConnection::isConnected).isEmpty()) {
            close();
            open = Optional.of(connect());
        }
        return open.orElseThrow();
    }

    private DBusConnection connect() throws IOException {
        Optional<DBusConnection> made = Optional.empty();
        try {
            DBusConnection connection = SystemBus.connect(bus, this::abandon);
            made = Optional.of(connection);
            connection.addSigHandler(SystemdManager.JobRemoved.class, signal -> ended(connection, signal));
            connection.getRemoteObject(NAME, PATH, SystemdManager.class).subscribe();
            return connection;
        } catch (DBusException | DBusExecutionException e) {
            made.ifPresent(DBusConnection::disconnect);
            throw new IOException("no connection to systemd at " + bus + ": " + e.getMessage(), e);
        }
    }

    /** Every user of the bus can send this; only systemd's counts. Its address may change, when it connects to the bus again. */
    private void ended(DBusConnection connection, SystemdManager.JobRemoved signal) {
        CompletableFuture<String> job = jobs.get(signal.unit);
        if (job == null) {
            return;
        }
        try {
            if (connection.getDBusOwnerName(NAME).equals(signal.getSource())) {
                job.complete(signal.result);
            } else {
                log.warn("{} sent the end of a job of systemd for {}; it is ignored", signal.getSource(), signal.unit);
            }
        } catch (DBusExecutionException e) {
            job.completeExceptionally(e);
        }
    }

    /** No signal comes any more for what is waited for. */
    private void abandon(IOException why) {
        jobs.values().forEach(job -> job.completeExceptionally(why));
    }

    private static List<SystemdManager.Property> list(Map<String, Object> properties) {
        return properties.entrySet().stream()
                .map(property -> new SystemdManager.Property(property.getKey(), variant(property.getValue())))
                .toList();
    }

    private static Variant<?> variant(Object value) {
        return switch (value) {
            case Long number -> new Variant<>(new UInt64(number));
            case List<?> texts -> new Variant<>(texts.toArray(String[]::new), "as");
            default -> new Variant<>(value);
        };
    }

    @Override
    public synchronized void close() {
        open.ifPresent(DBusConnection::disconnect);
        open = Optional.empty();
        abandon(new IOException("the connection to systemd was closed"));
    }
}
