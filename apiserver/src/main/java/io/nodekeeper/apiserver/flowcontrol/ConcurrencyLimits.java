package io.nodekeeper.apiserver.flowcontrol;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Who is served, who waits and who is turned away when more is asked for than is done at a time.
 *
 * <p>Heartbeats, reads and other writes have seats of their own, so that no flood of the one keeps out the other. Whoever
 * finds a free seat takes it. Whoever finds none waits if they hold less than a fair share, which is the seats divided by
 * the users who hold or want some, and is turned away otherwise. A seat that gets free goes to the waiting user who
 * holds the fewest. So one client alone may use all seats, and gets a refusal for the one more; but a second client is
 * never refused on account of the first. Heartbeats come from many users who want one seat each: they wait in one line.
 *
 * <p>Thread-safe; it knows no clock and decides the same way each time.
 */
final class ConcurrencyLimits {
    /** What a request is to the server. */
    enum Kind {
        /** A sign of life of a node or a leader, and what belongs to it. */
        HEARTBEAT,
        /** Another get or list. */
        READ,
        /** Another write. */
        WRITE
    }

    /** What became of a request. */
    enum State {
        /** It is being served. */
        SEATED,
        /** Its turn will come. */
        WAITING,
        /** It is over: answered, given up or never let in. */
        GONE
    }

    /** Heartbeats that wait, for each that is served: a second's worth and more of what a server does. Chosen. */
    private static final int LINE = 10;

    /** A request that wants a seat. Its fields are touched under the lock of the limits only. */
    static class Seat {
        private final Kind kind;
        private final String user;
        private final boolean always;
        private final long deadline;
        private State state = State.GONE;
        private @Nullable Seat earlier;
        private @Nullable Seat later;

        /**
         * A request not let in yet.
         *
         * @param always never to be turned away, nor to wait: for those who run the cluster
         * @param deadline until when it is to be answered, by the monotonic clock
         */
        Seat(Kind kind, String user, boolean always, long deadline) {
            this.kind = kind;
            this.user = user;
            this.always = always;
            this.deadline = deadline;
        }

        String user() {
            return user;
        }
    }

    /** What one user holds and wants. */
    private static final class Share {
        private int held;
        private final ArrayDeque<Seat> waiting = new ArrayDeque<>();
    }

    /** The seats for one kind. */
    private static final class PriorityLevel {
        private final boolean fair;
        private final int limit;
        private final int line;
        private int taken;
        private int waiting;
        /** By user, those first who came first; heartbeats all count as one user. */
        private final Map<String, Share> shares = new LinkedHashMap<>();

        private PriorityLevel(Kind kind, int limit) {
            this.fair = kind != Kind.HEARTBEAT;
            this.limit = limit;
            this.line = fair ? limit : limit * LINE;
        }

        private Share share(Seat seat) {
            return shares.computeIfAbsent(fair ? seat.user : "", user -> new Share());
        }

        private State enter(Seat seat) {
            Share share = share(seat);
            if (seat.always || (taken < limit && waiting == 0)) {
                sit(seat, share);
                return State.SEATED;
            }
            int fairShare = fair ? Math.max(1, limit / shares.size()) : limit + line;
            if (waiting < line && share.held + share.waiting.size() < fairShare) {
                waiting++;
                share.waiting.add(seat);
                return State.WAITING;
            }
            forget(seat, share);
            return State.GONE;
        }

        private void sit(Seat seat, Share share) {
            taken++;
            share.held++;
            seat.state = State.SEATED;
        }

        private void stand(Seat seat) {
            Share share = share(seat);
            if (seat.state == State.SEATED) {
                taken--;
                share.held--;
            } else {
                waiting--;
                share.waiting.remove(seat);
            }
            forget(seat, share);
        }

        private void forget(Seat seat, Share share) {
            if (fair && share.held == 0 && share.waiting.isEmpty()) {
                shares.remove(seat.user);
            }
        }

        private Optional<Seat> next() {
            if (waiting == 0 || taken >= limit) {
                return Optional.empty();
            }
            Share poorest = null;
            for (Share share : shares.values()) {
                if (!share.waiting.isEmpty() && (poorest == null || share.held < poorest.held)) {
                    poorest = share;
                }
            }
            if (poorest == null) {
                throw new IllegalStateException(waiting + " requests wait, but nobody's");
            }
            waiting--;
            Seat seat = poorest.waiting.remove();
            sit(seat, poorest);
            return Optional.of(seat);
        }
    }

    private final Map<Kind, PriorityLevel> levels = new EnumMap<>(Kind.class);
    // All that are seated or wait, in a chain, so that one comes and goes at no cost.
    private @Nullable Seat newest;

    ConcurrencyLimits(FlowControlOptions options) {
        for (Kind kind : Kind.values()) {
            int limit = switch (kind) {
                case HEARTBEAT -> options.heartbeats();
                case READ -> options.reads();
                case WRITE -> options.writes();
            };
            levels.put(kind, new PriorityLevel(kind, limit));
        }
    }

    private PriorityLevel level(Seat seat) {
        return Objects.requireNonNull(levels.get(seat.kind));
    }

    /** Lets a request in, has it wait, or turns it away ({@link State#GONE}). */
    synchronized State enter(Seat seat) {
        State state = level(seat).enter(seat);
        seat.state = state;
        if (state != State.GONE) {
            seat.earlier = newest;
            if (newest != null) {
                newest.later = seat;
            }
            newest = seat;
        }
        return state;
    }

    /** A request is over; returns one whose turn has come, to be served now. Nothing happens the second time. */
    synchronized Optional<Seat> leave(Seat seat) {
        if (seat.state == State.GONE) {
            return Optional.empty();
        }
        level(seat).stand(seat);
        seat.state = State.GONE;
        Seat earlier = seat.earlier;
        Seat later = seat.later;
        if (earlier != null) {
            earlier.later = later;
        }
        if (later != null) {
            later.earlier = earlier;
        } else {
            newest = earlier;
        }
        seat.earlier = null;
        seat.later = null;
        return level(seat).next();
    }

    /** The requests that should have been answered by {@code now}; they stay until they leave. */
    synchronized List<Seat> overdue(long now) {
        List<Seat> overdue = new ArrayList<>();
        for (Seat seat = newest; seat != null; seat = seat.earlier) {
            if (seat.deadline - now <= 0) {
                overdue.add(seat);
            }
        }
        return overdue;
    }

    /** Whether nobody is served or waits. */
    synchronized boolean idle() {
        return newest == null;
    }
}
