package io.nodekeeper.apiserver.flowcontrol;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides which requests are served, wait or are refused when there are more than the limit.
 *
 * <p>Heartbeats, reads and other writes have separate seats, so that a flood of one kind does not block the others. A
 * request takes a free seat. Without a free seat, it waits if its user holds less than a fair share, which is the seats
 * divided by the users who hold or want some; otherwise it is refused. A freed seat goes to the waiting user with the
 * fewest seats. A single client can therefore use all seats, and gets a refusal for one more; but a second client is
 * never refused because of the first. Heartbeats come from many users with one seat each, so they wait in one queue; a node has
 * few at a time, and more of one node are refused.
 *
 * <p>Thread-safe; deterministic, without a clock.
 */
final class ConcurrencyLimits {
    /** The kind of a request. */
    enum Kind {
        /** A heartbeat of a node or a leader, and related requests. */
        HEARTBEAT,
        /** Another get or list. */
        READ,
        /** Another write. */
        WRITE
    }

    /** The state of a request. */
    enum State {
        /** It is being served. */
        SEATED,
        /** It waits for a seat. */
        WAITING,
        /** It has ended: answered, cancelled or refused. */
        GONE
    }

    /**
     * How many heartbeats may wait for each one that is served: about as many as a server handles in a second. A longer
     * queue would only hold heartbeats that time out; a shorter one would refuse those of a fleet that reconnects.
     */
    private static final int LINE = 10;

    /**
     * The most heartbeats of one node that are served or wait: it renews a lease, reports a status and reads both, and repeats what was
     * not answered in time. Without this limit one node could fill the queue of all nodes with requests that take long.
     */
    static final int OF_NODE = 8;

    /** A request that needs a seat. Its fields are guarded by the lock of the limits. */
    static class Seat {
        private final Kind kind;
        private final String user;
        private final boolean node;
        private final boolean always;
        private final long deadline;
        private State state = State.GONE;
        private @Nullable Seat earlier;
        private @Nullable Seat later;

        /**
         * A new request.
         * @param node whether the user is a node
         * @param always whether it is never refused and never waits: for cluster administrators
         * @param deadline when it must be answered, by the monotonic clock
         */
        Seat(Kind kind, String user, boolean node, boolean always, long deadline) {
            this.kind = kind;
            this.user = user;
            this.node = node;
            this.always = always;
            this.deadline = deadline;
        }

        String user() {
            return user;
        }
    }

    /** The seats and waiting requests of one user. */
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
        /** By user, in order of arrival; all heartbeats count as one user. */
        private final Map<String, Share> shares = new LinkedHashMap<>();
        /** How many heartbeats of each node are served or wait; those without any are not in it. */
        private final Map<String, Integer> ofNodes = new HashMap<>();

        private PriorityLevel(Kind kind, int limit) {
            this.fair = kind != Kind.HEARTBEAT;
            this.limit = limit;
            this.line = fair ? limit : limit * LINE;
        }

        private Share share(Seat seat) {
            return shares.computeIfAbsent(fair ? seat.user : "", user -> new Share());
        }

        private State enter(Seat seat) {
            boolean counted = isCounted(seat);
            if (counted && ofNodes.getOrDefault(seat.user, 0) >= OF_NODE) {
                return State.GONE;
            }
            State state = enterShare(seat);
            if (counted && state != State.GONE) {
                ofNodes.merge(seat.user, 1, Integer::sum);
            }
            return state;
        }

        private boolean isCounted(Seat seat) {
            return seat.node && !fair && !seat.always;
        }

        private State enterShare(Seat seat) {
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
            if (isCounted(seat)) {
                ofNodes.computeIfPresent(seat.user, (user, count) -> count == 1 ? null : count - 1);
            }
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
                throw new IllegalStateException(waiting + " requests wait, but they belong to no flow");
            }
            waiting--;
            Seat seat = poorest.waiting.remove();
            sit(seat, poorest);
            return Optional.of(seat);
        }
    }

    private final Map<Kind, PriorityLevel> levels = new EnumMap<>(Kind.class);
    // All requests that are served or wait, in a linked list, so that adding and removing are O(1).
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

    /** Serves a request, makes it wait, or refuses it ({@link State#GONE}). */
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

    /** A request has ended; returns the request to serve next, if any. A second call has no effect. */
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

    /** Whether no request is served or waits. */
    synchronized boolean idle() {
        return newest == null;
    }
}
