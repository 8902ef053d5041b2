package io.nodekeeper.agent.systemd;

import java.util.List;
import org.freedesktop.dbus.DBusPath;
import org.freedesktop.dbus.Struct;
import org.freedesktop.dbus.annotations.DBusInterfaceName;
import org.freedesktop.dbus.annotations.DBusMemberName;
import org.freedesktop.dbus.annotations.Position;
import org.freedesktop.dbus.exceptions.DBusException;
import org.freedesktop.dbus.interfaces.DBusInterface;
import org.freedesktop.dbus.messages.DBusSignal;
import org.freedesktop.dbus.types.UInt32;
import org.freedesktop.dbus.types.Variant;

/** The part of systemd's own interface that is used, as the D-Bus library takes it. Public for that library alone. */
@DBusInterfaceName("org.freedesktop.systemd1.Manager")
public interface SystemdManager extends DBusInterface {
    /** From now on signals are sent. */
    @DBusMemberName("Subscribe")
    void subscribe();

    /** Makes a unit that no file describes, and starts it; answers with the job. */
    @DBusMemberName("StartTransientUnit")
    DBusPath startTransientUnit(String name, String mode, List<Property> properties, List<Auxiliary> units);

    /** Changes properties of a unit; {@code runtime} if not for longer than the machine runs. */
    @DBusMemberName("SetUnitProperties")
    void setUnitProperties(String name, boolean runtime, List<Property> properties);

    /** Ends a unit; answers with the job. */
    @DBusMemberName("StopUnit")
    DBusPath stopUnit(String name, String mode);

    /** Sends a signal to the processes of a unit. */
    @DBusMemberName("KillUnit")
    void killUnit(String unit, String who, int signal);

    /** A property of a unit: {@code (sv)}. */
    class Property extends Struct {
        /** Its name. */
        @Position(0)
        public final String name;

        /** Its value. */
        @Position(1)
        public final Variant<?> value;

        /** As the library calls it. */
        public Property(String name, Variant<?> value) {
            this.name = name;
            this.value = value;
        }
    }

    /** A further unit of the same job; none is used: {@code (sa(sv))}. */
    class Auxiliary extends Struct {
        /** Its name. */
        @Position(0)
        public final String name;

        /** Its properties. */
        @Position(1)
        public final List<Property> properties;

        /** As the library calls it. */
        public Auxiliary(String name, List<Property> properties) {
            this.name = name;
            this.properties = properties;
        }
    }

    /** A job has ended. */
    class JobRemoved extends DBusSignal {
        /** The name of its unit. */
        public final String unit;
        /** {@code done}, or why not: {@code canceled}, {@code timeout}, {@code failed}, {@code dependency}, {@code skipped}. */
        public final String result;

        /** As the library calls it. */
        public JobRemoved(String path, UInt32 id, DBusPath job, String unit, String result) throws DBusException {
            super(path, id, job, unit, result);
            this.unit = unit;
            this.result = result;
        }
    }
}
