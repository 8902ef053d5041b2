package io.nodekeeper.controller.duplicates;

import io.nodekeeper.controller.heartbeats.Versions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The machines that wrote one node's status, one after the other. A reboot changes the boot id to one that was never there
 * before; so does a replaced machine. Only two machines that both run bring back a boot id that was replaced. Each kubelet
 * and each agent overwrites the other's within its status period (10 s by default), so both appear in each period.
 *
 * <p>A return is a state whose machine was replaced before. {@link #RETURNS} returns within {@link #WINDOW} prove two
 * machines. More machines than {@link #REMEMBERED} may take turns without a return among those that are remembered; {@link
 * #CHANGES} changes within the window prove that, too. States whose version is not newer do not count: they come from a
 * server that lags.
 *
 * <p>A node whose machine never changed needs two numbers; one that changed needs about 1 KB until it is quiet for {@link
 * #WINDOW} and {@link #CALM}. Times are monotonic nanoseconds. Pure; not thread-safe.
 */
final class MachineTrail {
    /**
     * A store that is restored from a backup brings an old boot id back, and the kubelet replaces it: two returns. So three.
     */
    static final int RETURNS = 3;
    /** With {@link #HASTE}: a machine would have to boot, and its kubelet to report, each 20 s. */
    static final int CHANGES = 10;
    /** See {@link #CHANGES}. Five kubelets make ten changes within two of their periods of 10 s. */
    static final Duration HASTE = Duration.ofMinutes(3);
    /** Contains three returns for status periods of up to 150 s. The default is 10 s. */
    static final Duration WINDOW = Duration.ofMinutes(10);
    /** As long as the window: no return that proved it is left. */
    static final Duration CALM = WINDOW;
    /** Two in practice; four for a machine that boots while it is one of two. */
    static final int REMEMBERED = 4;

    /** What is known of a node whose machine has changed. */
    private static final class Changes {
        /** The machines, the current one last; at most {@link #REMEMBERED}. */
        private final Deque<Machine> machines = new ArrayDeque<>();
        /** When machines returned; at most {@link #RETURNS}, the newest last. */
        private final Deque<Long> returns = new ArrayDeque<>();
        /** When only addresses returned, likewise. */
        private final Deque<Long> addressReturns = new ArrayDeque<>();
        /** When the boot id changed; at most {@link #CHANGES}, the newest last. */
        private final Deque<Long> changes = new ArrayDeque<>();

        /** The number of the machine before the first change, of which nothing else is known. */
        private final long first;

        private boolean firstReturned;
        private long changedAt;

        private Changes(long first) {
            this.first = first;
        }

        /** Whether the machine is one that was replaced before; it is not remembered any more. */
        private boolean forget(Machine machine) {
            boolean again = machines.remove(machine);
            if (!again && !firstReturned && machine.fingerprint() == first) {
                firstReturned = true;
                return true;
            }
            return again;
        }
    }

    private long version;
    private long fingerprint;
    private long acceptedAt;
    private boolean known;
    private @Nullable Changes changes;
    private Optional<Alternation> found = Optional.empty();
    private long provenAt;

    /** Takes the machine in a state with that version, see {@link Versions#number}, seen at {@code now}. */
    void saw(Machine machine, long newVersion, long now) {
        end(now);
        if (known && !Versions.isNewer(newVersion, version) && now - acceptedAt <= WINDOW.toNanos()) {
            return;
        }
        version = newVersion;
        acceptedAt = now;
        long seen = machine.fingerprint();
        if (known && seen != fingerprint) {
            changed(machine, now);
        }
        known = true;
        fingerprint = seen;
    }

    private void changed(Machine machine, long now) {
        Changes trail = changes;
        if (trail == null) {
            trail = new Changes(fingerprint);
            changes = trail;
        }
        Optional<Machine> last = Optional.ofNullable(trail.machines.peekLast());
        trail.changedAt = now;
        boolean sameBoot = last.filter(machine::isSameBoot).isPresent();
        boolean returned = trail.forget(machine);
        if (sameBoot) {
            if (returned && add(trail.addressReturns, RETURNS, WINDOW, now)) {
                prove(Alternation.Kind.ADDRESS, machine, last, now);
            }
        } else {
            boolean often = add(trail.changes, CHANGES, HASTE, now);
            boolean thrice = returned && add(trail.returns, RETURNS, WINDOW, now);
            if (often || thrice) {
                prove(Alternation.Kind.MACHINE, machine, last, now);
            }
        }
        trail.machines.add(machine);
        if (trail.machines.size() > REMEMBERED) {
            trail.machines.removeFirst();
        }
    }

    /** Adds the time; whether there are {@code size} of them within the span now. */
    private static boolean add(Deque<Long> times, int size, Duration span, long now) {
        times.add(now);
        if (times.size() > size) {
            times.removeFirst();
        }
        return times.size() == size && now - times.getFirst() <= span.toNanos();
    }

    private void prove(Alternation.Kind kind, Machine machine, Optional<Machine> last, long now) {
        boolean weaker = kind == Alternation.Kind.ADDRESS
                && found.filter(known -> known.kind() == Alternation.Kind.MACHINE)
                        .isPresent();
        if (last.isPresent() && !weaker) {
            found = Optional.of(new Alternation(kind, machine, last.get()));
        }
        provenAt = now;
    }

    /** Forgets what is too old. */
    void end(long now) {
        if (found.isPresent() && now - provenAt > CALM.toNanos()) {
            found = Optional.empty();
        }
        if (found.isEmpty()
                && changes != null
                && now - changes.changedAt > WINDOW.plus(CALM).toNanos()) {
            changes = null;
        }
    }

    /** The proof that two machines report; empty without one. */
    Optional<Alternation> found() {
        return found;
    }

    /** Whether more than two numbers are kept. */
    boolean isLarge() {
        return changes != null;
    }
}
