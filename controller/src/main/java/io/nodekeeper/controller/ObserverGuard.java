package io.nodekeeper.controller;

import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * Knows how far the controller can see, and keeps the nodes' clock, which stands still while nothing is proven.
 *
 * <p>Every period a canary is sent: a write to a lease that comes back through the same watch as the nodes' renewals. A
 * watch tells in the order of writes, so a canary that was sent at s and is seen proves that all that was stored before s
 * has been seen, too. A canary counts if its write came to an end within the tolerance, however late the watch tells of it:
 * then renewals were not held up beside it either. One whose write took longer, or is not known to have come to an end,
 * proves nothing. If the gap between the sending times of two proofs is longer than the tolerance, writes stood still: the
 * whole gap is taken out of the nodes' clock. Between proofs the clock runs on, for the tolerance at most.
 *
 * <pre>
 *   sent:    s0  s1  s2  ─── nothing is proven ───  s3  s4
 *   clock:   0s  1s  2s  3s  4s  5s  5s  5s  5s     2s  3s    (tolerance 3s)
 * </pre>
 *
 * The controller is blind when no canary that was sent within the tolerance came out of the watch. Then leases are listed
 * now and then, which gives proofs of two other kinds; see {@link Means}. A node is judged only when the moment of its
 * deadline is proven. Time is nanoseconds by the controller's monotonic clock, passed in. Not thread-safe.
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

    /** How the newest proof came about. */
    enum Means {
        /** A canary came out of the watch. */
        WATCH("watch", "a canary came out of the watch"),
        /** A canary whose write was acknowledged in time was read live, with the leases. */
        LIST("list", "a list of the leases showed a canary that had been written in time"),
        /** Leases were read live, and at least half of the nodes had renewed theirs. */
        RENEWALS("renewals", "a list of the leases showed that at least half of the nodes renew theirs"),
        /** Leases were read live, and another lease had been written by this process in time. */
        WRITES("writes", "leases were listed after this process had written another lease in time");

        private final String label;
        private final String meaning;

        Means(String label, String meaning) {
            this.label = label;
            this.meaning = meaning;
        }

        /** As in metric labels. */
        String label() {
            return label;
        }

        String meaning() {
            return meaning;
        }
    }

    /** What verdicts rest on. */
    enum Judgement {
        /** On canaries that come out of the watch in time. */
        FULL("full", "nodes are judged as usual"),
        /** On canaries that the watch tells of late. */
        LATE("late", "nodes are judged, later than usual, by what the watch tells late"),
        /** On lists of the leases and on canaries. */
        LIST(
                "list",
                "nodes are judged by live reads, later than usual, as lists of the leases show that writes come to an end"),
        /** On lists of the leases and on the nodes' renewals. */
        RENEWALS(
                "renewals",
                "nodes are judged by live reads, later than usual, as lists of the leases show that at least half of the"
                        + " nodes renew theirs"),
        /** On lists of the leases and on other writes of this process. */
        WRITES(
                "writes",
                "nodes are judged by live reads, later than usual, as this process writes other leases and these writes"
                        + " come to an end"),
        /** On nothing. */
        NONE("none", "no node is judged, and their clocks stand still");

        private final String label;
        private final String meaning;

        Judgement(String label, String meaning) {
            this.label = label;
            this.meaning = meaning;
        }

        /** As in metric labels. */
        String label() {
            return label;
        }

        String meaning() {
            return meaning;
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

        /**
         * A canary was seen again after {@code lasted}; {@code given} of it is what the nodes get back, and {@code hop} what
         * explains most of it.
         */
        record Sees(Hop hop, long lasted, long given) implements Change {}
    }

    private static final long NEVER = Long.MIN_VALUE / 2;
    /** Periods of the canary, 1 s each by default, between two renewals of a node, 10 s by Kubernetes' defaults. */
    private static final long RENEWALS = 10;

    private final boolean on;
    private final long period;
    private final long tolerance;

    /** Whether sight is wanted. */
    private boolean started;
    /** Whether canaries are sent. Until then everything is still being listed: the clock just runs, and nothing is proven. */
    private boolean begun;
    /** Up to when all that was stored has been seen, whatever proved it. */
    private long provenAt;
    /** For how long the nodes' clock runs on after {@link #provenAt}. */
    private long reach;
    /** What proved it. */
    private Means means = Means.WATCH;
    /** When the newest canary that came out of the watch had been sent; before the first one, when sight was wanted. */
    private long seenAt;
    /** All that was taken out of the nodes' clock. */
    private long lost;

    private boolean blind;
    private Hop hop = Hop.API_SERVER;
    /** The time without proof, by the hop that explains it, up to {@link #bookedAt}. */
    private final Map<Hop, Long> dark = new EnumMap<>(Hop.class);

    private final Map<Hop, Long> unreported = new EnumMap<>(Hop.class);
    /** {@link #lost}, {@link #provenAt} and {@link #seenAt} when the present blindness was noticed. */
    private long lostBefore;

    private long provenBefore;
    private long blindSince;
    private long bookedAt;

    private long tickedAt;
    private long ackedAt = NEVER;
    private long ackCameAt = NEVER;
    private long answeredAt = NEVER;
    /** When a canary was last refused for a reason that may hold up the nodes' renewals, too. */
    private long refusedForNodesAt = NEVER;

    private long aliveAt = NEVER;

    private ObserverGuard(boolean on, Duration period, Duration tolerance) {
        this.on = on;
        this.period = period.toNanos();
        this.tolerance = tolerance.toNanos();
        this.reach = this.tolerance;
    }

    /** A guard that is blind after {@code tolerance} without a proof, once it was {@linkplain #start started}. */
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

    /** From now on the controller wants to see. */
    void start(long now) {
        started = true;
        seenAt = now;
        tickedAt = now;
        bookedAt = now;
    }

    /** All is listed and canaries are sent from now on: what was before is neither proven nor given back. */
    void begin(long now) {
        begun = true;
        provenAt = now;
        if (!blind) {
            start(now);
        }
    }

    /** The time on the nodes' clock. */
    long nodeTime(long now) {
        return begun ? Math.min(now, provenAt + reach) - lost : now;
    }

    /** When the nodes' clock shows {@code nodeTime}, if nothing more is lost until then. */
    long whenNodeTime(long nodeTime) {
        return nodeTime + lost;
    }

    /**
     * Whether all is seen that was stored before the nodes' clock showed {@code nodeTime}. By other means than the watch a
     * node has twice the {@link #reach} more, so that at least two readings after its deadline show no renewal.
     */
    boolean proves(long nodeTime) {
        return !on || begun && provenAt - lost - (means == Means.WATCH ? 0 : 2 * reach) > nodeTime;
    }

    /** Whether no canary that was sent within the tolerance came out of the watch. */
    boolean isBlind(long now) {
        return on && started && now - seenAt > tolerance;
    }

    /** How old the newest canary is that came out of the watch. */
    long canaryAge(long now) {
        return started ? now - seenAt : 0;
    }

    /** All that the nodes were given back so far. */
    long lost() {
        return lost;
    }

    /** What proved last that the controller sees. */
    Means means() {
        return means;
    }

    /** What verdicts rest on now. */
    Judgement judgement(long now) {
        if (!isBlind(now)) {
            return Judgement.FULL;
        }
        if (!begun || provenAt <= provenBefore || now - provenAt > Math.max(2 * reach + period, 4 * tolerance)) {
            return Judgement.NONE;
        }
        return switch (means) {
            case WATCH -> Judgement.LATE;
            case LIST -> Judgement.LIST;
            case RENEWALS -> Judgement.RENEWALS;
            case WRITES -> Judgement.WRITES;
        };
    }

    /** The hop that explains the present blindness. */
    Hop hop() {
        return hop;
    }

    /** The canary that was sent at {@code sentAt} was taken by the server; whether that took no longer than is tolerated. */
    boolean acknowledged(long sentAt, long now) {
        ackedAt = Math.max(ackedAt, sentAt);
        ackCameAt = now;
        answered(now);
        return now - sentAt <= tolerance;
    }

    /** A canary was answered, be it with a refusal. */
    void answered(long now) {
        answeredAt = now;
        aliveAt = now;
    }

    /** A canary was refused, {@code forNodes} if nodes' renewals may be refused for the same reason. */
    void refused(boolean forNodes, long now) {
        answered(now);
        if (forNodes) {
            refusedForNodesAt = now;
        }
    }

    /** The server answered something at all. */
    void alive(long now) {
        aliveAt = now;
    }

    /**
     * The canary that was sent at {@code sentAt} was seen.
     *
     * @param prompt whether its write is known to have come to an end within the tolerance
     * @param by where it was seen
     */
    Optional<Change> seen(long sentAt, boolean prompt, Means by, long now) {
        // A write that was held up proves nothing: the nodes' renewals were held up beside it.
        if (!on || !begun || !prompt && now - sentAt > tolerance) {
            return Optional.empty();
        }
        long gap = sentAt - provenAt;
        long given = gap > tolerance ? gap : 0;
        prove(sentAt, by, given, by == Means.WATCH ? tolerance : reach);
        if (by != Means.WATCH || sentAt <= seenAt) {
            return Optional.empty();
        }
        long lasted = Math.max(given, now - (blind ? blindSince : seenAt));
        if (blind ? now - sentAt > tolerance / 2 : given == 0) {
            // Either still late, or nothing was wrong.
            seenAt = sentAt;
            if (!blind) {
                dark.clear();
                bookedAt = sentAt;
            }
            return Optional.empty();
        }
        if (!blind) {
            lostBefore = lost - given;
        }
        book(now);
        Hop longest = longest();
        dark.forEach((explained, time) -> unreported.merge(explained, blind ? 0 : time, Long::sum));
        dark.clear();
        seenAt = sentAt;
        bookedAt = sentAt;
        blind = false;
        return Optional.of(new Change.Sees(longest, lasted, lost - lostBefore));
    }

    /**
     * All leases, or a sample of them, were read from {@code startedAt} on, and enough nodes had renewed theirs.
     *
     * @param interval the time between two such readings
     */
    void renewalsRead(long startedAt, long interval, long now) {
        proveBeside(startedAt, Means.RENEWALS, interval, now);
    }

    /**
     * Leases were read after this process had sent a write to another lease at {@code sentAt}, which was acknowledged within
     * the tolerance. That proves nothing about the nodes' renewals while canaries, which are leases beside theirs, are refused
     * for a reason that may concern them.
     *
     * @param interval the longer one of the times between two such writes and between two such readings
     */
    void otherWrite(long sentAt, long interval, long now) {
        if (now - refusedForNodesAt <= RENEWALS * period) {
            return;
        }
        proveBeside(sentAt, Means.WRITES, interval, now);
    }

    private void proveBeside(long at, Means by, long interval, long now) {
        // A canary that hangs says that writes do, whatever was stored before.
        if (!on || !begun || now - answeredAt > tolerance) {
            return;
        }
        boolean byCanary = means == Means.WATCH || means == Means.LIST;
        if (byCanary && at - provenAt <= tolerance) {
            // There is a better proof.
            return;
        }
        long next = reachOf(interval);
        long gap = at - provenAt;
        prove(at, by, gap > 2 * next ? gap : Math.max(0, gap - reach), next);
    }

    private long reachOf(long interval) {
        return Math.max(tolerance, interval * 3 / 2);
    }

    private void prove(long at, Means by, long given, long next) {
        if (at > provenAt) {
            provenAt = at;
            means = by;
            lost += given;
            reach = next;
        }
    }

    /** To be called each period: notices blindness, and by its own lateness that this process stood still. */
    Optional<Change> tick(long now) {
        Optional<Hop> named = 2 * canaryAge(now) > 3 * period ? book(now) : Optional.empty();
        tickedAt = now;
        if (!isBlind(now)) {
            return Optional.empty();
        }
        if (!blind) {
            blind = true;
            lostBefore = lost;
            provenBefore = provenAt;
            blindSince = seenAt;
            unreported.putAll(dark);
            hop = longest();
            return Optional.of(new Change.Blind(hop, seenAt));
        }
        if (named.isPresent() && named.get() != hop) {
            hop = named.get();
            return Optional.of(new Change.Renamed(hop, blindSince));
        }
        return Optional.empty();
    }

    /** The time of blindness since the last call, nanoseconds by the hop that explains it. */
    Map<Hop, Long> takeBlindTime() {
        Map<Hop, Long> taken = new EnumMap<>(unreported);
        unreported.clear();
        return taken;
    }

    /** The state of it, for people who ask. */
    JsonObject json(long now) {
        JsonObject.Builder state = JsonObject.builder()
                .put("guard", on)
                .put("sees", !isBlind(now))
                .put("canaryAgeMs", canaryAge(now) / 1_000_000)
                .put("toleranceMs", tolerance / 1_000_000)
                .put("givenBackMs", lost / 1_000_000);
        return isBlind(now)
                ? state.put("hop", hop.label())
                        .put("judgement", judgement(now).label())
                        .build()
                : state.build();
    }

    /** The present blindness in words, empty while the controller sees. */
    Optional<String> blindness(long now) {
        return isBlind(now)
                ? Optional.of("nothing seen for " + Heartbeats.age(canaryAge(now)) + ": " + hop.meaning() + " (" + hop
                        + "); " + judgement(now).meaning())
                : Optional.empty();
    }

    /** Books the time since the last call to what explains it best; which is the answer. */
    private Optional<Hop> book(long now) {
        long span = now - bookedAt;
        if (span <= 0) {
            return Optional.empty();
        }
        bookedAt = now;
        long late = now - tickedAt - period;
        long paused = late > period / 2 ? Math.min(span, late) : 0;
        Hop rest = diagnose(now);
        add(Hop.CONTROLLER, paused);
        add(rest, span - paused);
        return Optional.of(2 * paused > span ? Hop.CONTROLLER : rest);
    }

    private void add(Hop explained, long time) {
        if (time > 0) {
            dark.merge(explained, time, Long::sum);
            if (blind) {
                unreported.merge(explained, time, Long::sum);
            }
        }
    }

    private Hop longest() {
        return dark.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(hop);
    }

    /** Which hop explains best why no canary comes. */
    private Hop diagnose(long now) {
        // Canaries are sent and the server is asked each period, so answers that flow are younger than two.
        long recently = now - 5 * period / 2;
        if (ackedAt > seenAt && ackCameAt > recently) {
            return Hop.WATCH;
        }
        return aliveAt > recently ? Hop.STORE : Hop.API_SERVER;
    }
}
