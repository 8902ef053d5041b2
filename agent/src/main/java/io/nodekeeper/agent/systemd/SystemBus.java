package io.nodekeeper.agent.systemd;

import java.io.IOException;
import java.util.function.Consumer;
import org.freedesktop.dbus.connections.IDisconnectCallback;
import org.freedesktop.dbus.connections.impl.DBusConnection;
import org.freedesktop.dbus.connections.impl.DBusConnectionBuilder;
import org.freedesktop.dbus.exceptions.DBusException;

/** The machine's bus of messages, by which systemd and logind are asked. */
public final class SystemBus {
    /** Its address where the environment names none. */
    private static final String USUAL = "unix:path=/run/dbus/system_bus_socket";

    private SystemBus() {}

    /** The address of this machine's: that of the environment, or the usual one. */
    public static String address() {
        return System.getenv().getOrDefault("DBUS_SYSTEM_BUS_ADDRESS", USUAL);
    }

    /**
     * A connection of its own to the bus at {@code address}; blocks.
     *
     * @param lost is told why the connection ended, unless it was closed here; on a thread of the library
     */
    public static DBusConnection connect(String address, Consumer<IOException> lost) throws DBusException {
        return DBusConnectionBuilder.forAddress(address)
                .withShared(false)
                .withDisconnectCallback(new IDisconnectCallback() {
                    @Override
                    public void disconnectOnError(IOException error) {
                        lost.accept(error);
                    }
                })
                .build();
    }
}
