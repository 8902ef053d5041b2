package io.nodekeeper.controller;

import io.nodekeeper.api.JsonObject;
import java.time.Duration;
import java.util.Optional;

/**
 * Knows how far the controller can see, and keeps the nodes' clock, which stands still while it is blind.
 *
 * <p>Every period a canary is sent: a write to a lease that comes back through the same watch as the nodes' renewals. A
 * watch tells in the order of writes, so a canary that was sent at s and is seen proves that all that was stored before s
 * has been seen, too. Proofs come each period. A canary that took longer than the tolerance was held up, and proves nothing:
 * nodes' renewals were held up beside it. If the gap between the sending times of two proofs is longer than the tolerance,
 * something on the way stood still, be it the store, the API server, the watch or this process: the whole gap is taken out
 * of the nodes' clock. Between proofs the clock runs on, for the tolerance at most.
 *
 * <pre>
 *   sent:    s0  s1  s2  ─── nothing is proven ───  s3  s4
 *   clock:   0s  1s  2s  3s  4s  5s  5s  5s  5s     2s  3s    (tolerance 3s)
 * </pre>
 *
 * A node is judged only when the moment of its deadline is proven. Time is nanoseconds by the controller's monotonic
 * clock, passed in. Not thread-safe.
 */
final class ObserverGuard {
    /** Where on a canary's way it was held up. */
    enum Hop {
        /** This process stood still. */
        CONTROLLER("controller", "this process stood still"),
        /** Nothing at all answers, or nothing can be reached. */
        API_SERVER("API server", "the API server does not answer"),
        /** The API server answers, but writes do not come to an end. */
        STORE("store", "the API server answers, but takes no writes"),
        /** Writes are taken, but the watch does not tell of them. */
        WATCH("watch", "writes are taken, but the watch does not tell of them");

        private final String text;
        private final String meaning;

        Hop(String text, String meaning) {
            this.text = text;
            this.meaning = meaning;
        }

        String meaning() {
            return meaning;
        }

        /** As in metric labels. */
        String label() {
            return text.toLowerCase(java.util.Locale.ROOT).replace(' ', '_');
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** What became of the controller's sight. */
    sealed interface Change {
        /** What held the canaries up. */
        Hop hop();

        /** Nothing was proven for longer than the tolerance. */
        record Blind(Hop hop, long since) implements Change {}

        /** It is another hop than first thought. */
        record Renamed(Hop hop, long since) implements Change {}

        /** A canary was seen again after {@code lasted}; {@code given} of it is what the nodes get back. */
        record Sees(Hop hop, long lasted, long given) implements Change {}
    }

    private static final long NEVER = Long.MIN_VALUE / 2;

    private final boolean on;
    private final long period;
    private final long tolerance;

    /** Whether canaries are sent. Until then everything is still being listed: the clock just runs, and nothing is proven. */
    private boolean begun;
    /** When the newest canary that was seen had been sent. */
    private long provenAt;
    /** All that was taken out of the nodes' clock. */
    private long lost;

    private boolean blind;
    private Hop hop = Hop.API_SERVER;

    private long tickedAt;
    private long pausedUntil = NEVER;
    private long pause;
    private long ackedAt = NEVER;
    private long aliveAt = NEVER;

    private ObserverGuard(boolean on, Duration period, Duration tolerance) {
        this.on = on;
        this.period = period.toNanos();
        this.tolerance = tolerance.toNanos();
    }

    /** A guard that is blind after {@code tolerance} without a proof, once it {@linkplain #begin has begun}. */
    static ObserverGuard watching(Duration period, Duration tolerance) {
        return new ObserverGuard(true, period, tolerance);
    }

    /** No guard: everything is believed, as by the reference. */
    static ObserverGuard off() {
        return new ObserverGuard(false, Duration.ofDays(1), Duration.ofDays(1));
    }

    boolean isOn() {
        return on;
    }

    /** Observation begins now: what was before is neither proven nor blind. */
    void begin(long now) {
        begun = true;
        provenAt = now;
        tickedAt = now;
    }

    /** The time on the nodes' clock. */
    long nodeTime(long now) {
        return begun ? Math.min(now, provenAt + tolerance) - lost : now;
    }

    /** When the nodes' clock shows {@code nodeTime}, if nothing more is lost until then. */
    long whenNodeTime(long nodeTime) {
        return nodeTime + lost;
    }

    /** Whether all is seen that was stored before the nodes' clock showed {@code nodeTime}. */
    boolean proves(long nodeTime) {
        return !on || begun && provenAt - lost > nodeTime;
    }

    /** Whether nothing was proven for longer than is tolerated. */
    boolean isBlind(long now) {
        return begun && now - provenAt > tolerance;
    }

    /** Since when nothing is proven. */
    long canaryAge(long now) {
        return begun ? now - provenAt : 0;
    }

    /** All that the nodes were given back so far. */
    long lost() {
        return lost;
    }

    /** Where sight was lost, while it is. */
    Hop hop() {
        return hop;
    }

    /** The canary that was sent at {@code sentAt} was taken by the server. */
    void acknowledged(long sentAt) {
        ackedAt = Math.max(ackedAt, sentAt);
    }

    /** The server answered something at all. */
    void alive(long now) {
        aliveAt = now;
    }

    /** The canary that was sent at {@code sentAt} came out of the watch. */
    Optional<Change> seen(long sentAt, long now) {
        ackedAt = Math.max(ackedAt, sentAt);
        long gap = sentAt - provenAt;
        // What was on its way for so long was held up itself, and so were the nodes' renewals beside it.
        if (!on || gap <= 0 || now - sentAt > tolerance) {
            return Optional.empty();
        }
        boolean wasBlind = blind || gap > tolerance;
        if (wasBlind && !blind) {
            // Over before it was noticed: it has no name yet.
            hop = diagnose(sentAt);
        }
        long given = gap > tolerance ? gap : 0;
        lost += given;
        long lasted = Math.max(given, now - provenAt);
        provenAt = sentAt;
        blind = false;
        return wasBlind ? Optional.of(new Change.Sees(hop, lasted, given)) : Optional.empty();
    }

    /** To be called each period: notices blindness, and by its own lateness that this process stood still. */
    Optional<Change> tick(long now) {
        long late = now - tickedAt - period;
        tickedAt = now;
        if (late > period / 2) {
            pause = late;
            pausedUntil = now;
        }
        if (!isBlind(now)) {
            return Optional.empty();
        }
        Hop named = diagnose(now);
        if (!blind) {
            blind = true;
            hop = named;
            return Optional.of(new Change.Blind(hop, provenAt));
        }
        if (named != hop) {
            hop = named;
            return Optional.of(new Change.Renamed(hop, provenAt));
        }
        return Optional.empty();
    }

    /** The state of it, for people who ask. */
    JsonObject json(long now) {
        JsonObject.Builder state = JsonObject.builder()
                .put("guard", on)
                .put("sees", !isBlind(now))
                .put("canaryAgeMs", canaryAge(now) / 1_000_000)
                .put("toleranceMs", tolerance / 1_000_000)
                .put("givenBackMs", lost / 1_000_000);
        return isBlind(now) ? state.put("hop", hop.label()).build() : state.build();
    }

    /** Which hop explains best why nothing was proven since {@link #provenAt}. */
    private Hop diagnose(long now) {
        long dark = now - provenAt;
        if (pausedUntil > provenAt && pause > dark / 2) {
            return Hop.CONTROLLER;
        }
        if (ackedAt > provenAt) {
            return Hop.WATCH;
        }
        // Asked each period, so an answer in the second half of the dark is one to a question asked in the dark.
        return aliveAt > provenAt + Math.min(dark / 2, tolerance) ? Hop.STORE : Hop.API_SERVER;
    }
}
