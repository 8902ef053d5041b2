package io.nodekeeper.controller.observer;

import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Tracks what the controller has provably seen, and keeps the nodes' clock, which stops while there is no proof.
 *
 * <p>Each period, the controller sends a canary: a write to a lease that returns through the same watch as the nodes'
 * renewals. A watch sends events in the order of writes, so a canary that was sent at s and has been seen proves that
 * everything stored before s has been seen, too. A canary counts if its write ended within the tolerance, however late
 * its watch event: then renewals were not delayed either. A canary whose write took longer, or has no known end, proves
 * nothing. If the gap between the sending times of two proofs is longer than the tolerance, writes were blocked: the
 * whole gap is subtracted from the nodes' clock. Between proofs the clock continues, for at most the tolerance.
 *
 * <pre>
 *   sent:    s0  s1  s2  ─── nothing is proven ───  s3  s4
 *   clock:   0s  1s  2s  3s  4s  5s  5s  5s  5s     2s  3s    (tolerance 3s)
 * </pre>
 *
 * The controller is blind if no canary that was sent within the tolerance has returned through the watch. Then it lists
 * leases periodically, which gives other kinds of proofs; see {@link ProofKind}. A verdict on a node requires a proof
 * for the moment of its deadline. Time is nanoseconds by the controller's monotonic clock, passed in. Not thread-safe.
 */
public final class ObserverGuard {
    private static final long NEVER = Long.MIN_VALUE / 2;
    /** Periods of the canary (1 s by default) in a node's renewal period (10 s by Kubernetes' defaults). */
    private static final long RENEWALS = 10;
    /** The most spans that were given back and are remembered: as many as fit into a minute, with a second of sight between them. */
    private static final int MOST_SPANS = 64;

    private final boolean on;
    private final long period;
    private final long tolerance;

    /** Whether the controller needs sight. */
    private boolean started;
    /** Whether canaries are sent. Before that, during the initial lists, the clock runs and there is no proof. */
    private boolean begun;
    /** Everything stored up to this time has been seen, by whatever proof. */
    private long provenAt;
    /** How long the nodes' clock continues after {@link #provenAt}. */
    private long reach;
    /** The kind of that proof. */
    private ProofKind means = ProofKind.WATCH;
    /**
     * When the newest canary that returned through the watch was sent; before the first one, when sight was first
     * needed.
     */
    private long seenAt;
    /** The total time subtracted from the nodes' clock. */
    private long lost;
    /** The latest spans of {@link #lost}, the oldest first; at most {@link #MOST_SPANS}. */
    private final ArrayDeque<DarkSpan> spans = new ArrayDeque<>();

    private boolean blind;
    /** Since when canaries have been young enough without a break, while {@link #blind}. */
    private long youngSince;

    private StalledHop hop = StalledHop.API_SERVER;
    /** The time without proof up to {@link #bookedAt}, by the hop that explains it. */
    private final Map<StalledHop, Long> dark = new EnumMap<>(StalledHop.class);

    private final Map<StalledHop, Long> unreported = new EnumMap<>(StalledHop.class);
    /** {@link #lost}, {@link #provenAt} and {@link #seenAt} when the current blindness began. */
    private long lostBefore;

    private long provenBefore;
    private long blindSince;
    private long bookedAt;

    private long tickedAt;
    private long ackedAt = NEVER;
    private long ackCameAt = NEVER;
    private long answeredAt = NEVER;
    /** When a canary was last refused for a reason that may affect the nodes' renewals, too. */
    private long refusedForNodesAt = NEVER;

    private long aliveAt = NEVER;

    private ObserverGuard(boolean on, Duration period, Duration tolerance) {
        this.on = on;
        this.period = period.toNanos();
        this.tolerance = tolerance.toNanos();
        this.reach = this.tolerance;
    }

    /** A guard that becomes blind after {@code tolerance} without a proof, after {@linkplain #start}. */
    public static ObserverGuard watching(Duration period, Duration tolerance) {
        return new ObserverGuard(true, period, tolerance);
    }

    /** No guard: trusts everything, as the reference does. */
    public static ObserverGuard off() {
        return new ObserverGuard(false, Duration.ofDays(1), Duration.ofDays(1));
    }

    public boolean isOn() {
        return on;
    }

    /** The controller needs sight from now on. */
    public void start(long now) {
        started = true;
        seenAt = now;
        tickedAt = now;
        bookedAt = now;
    }

    /**
     * The initial lists are complete and canaries are sent from now on. The time before is neither proven nor given
     * back.
     */
    public void begin(long now) {
        begun = true;
        provenAt = now;
        if (!blind) {
            start(now);
        }
    }

    /** The time on the nodes' clock. */
    public long nodeTime(long now) {
        return begun ? Math.min(now, provenAt + reach) - lost : now;
    }

    /** When the nodes' clock shows {@code nodeTime}, if nothing more is lost until then. */
    public long whenNodeTime(long nodeTime) {
        return nodeTime + lost;
    }

    /**
     * Whether everything stored before {@code nodeTime} on the nodes' clock has been seen. If the proof is not from the
     * watch, a node has twice the {@link #reach} more, so that at least two reads after its deadline show no renewal.
     */
    public boolean proves(long nodeTime) {
        return !on || begun && provenAt - lost - (means == ProofKind.WATCH ? 0 : 2 * reach) > nodeTime;
    }

    /** Whether no canary that was sent within the tolerance has returned through the watch. */
    public boolean isBlind(long now) {
        return on && started && now - seenAt > tolerance;
    }

    /** The age of the newest canary that returned through the watch. */
    public long canaryAge(long now) {
        return started ? now - seenAt : 0;
    }

    /** The total time that was given back to the nodes. */
    public long lost() {
        return lost;
    }

    /**
     * The latest spans that were given back because the nodes' renewals may have been blocked, the oldest first. Pauses
     * of this process are none of them.
     */
    public List<DarkSpan> spans() {
        return List.copyOf(spans);
    }

    /** The kind of the last proof of sight. */
    public ProofKind means() {
        return means;
    }

    /** The current basis of verdicts. */
    public VerdictBasis judgement(long now) {
        if (!isBlind(now)) {
            return VerdictBasis.FULL;
        }
        if (!begun || provenAt <= provenBefore || now - provenAt > Math.max(2 * reach + period, 4 * tolerance)) {
            return VerdictBasis.NONE;
        }
        return switch (means) {
            case WATCH -> VerdictBasis.LATE;
            case LIST -> VerdictBasis.LIST;
            case RENEWALS -> VerdictBasis.RENEWALS;
            case WRITES -> VerdictBasis.WRITES;
        };
    }

    /** The hop that explains the current blindness. */
    public StalledHop hop() {
        return hop;
    }

    /**
     * The server accepted the canary that was sent at {@code sentAt}. True if that took no longer than the tolerance.
     */
    public boolean acknowledged(long sentAt, long now) {
        ackedAt = Math.max(ackedAt, sentAt);
        ackCameAt = now;
        answered(now);
        return now - sentAt <= tolerance;
    }

    /** The server answered a canary, possibly with a refusal. */
    public void answered(long now) {
        answeredAt = now;
        aliveAt = now;
    }

    /** The server refused a canary; {@code forNodes} if it may refuse nodes' renewals for the same reason. */
    public void refused(boolean forNodes, long now) {
        answered(now);
        if (forNodes) {
            refusedForNodesAt = now;
        }
    }

    /** The server answered any request. */
    public void alive(long now) {
        aliveAt = now;
    }

    /**
     * The canary that was sent at {@code sentAt} was seen.
     *
     * @param prompt whether its write is known to have ended within the tolerance
     * @param by where it was seen
     */
    public Optional<SightChange> seen(long sentAt, boolean prompt, ProofKind by, long now) {
        // A delayed write proves nothing, because the nodes' renewals were delayed, too.
        if (!on || !begun || !prompt && now - sentAt > tolerance) {
            return Optional.empty();
        }
        long gap = sentAt - provenAt;
        long given = gap > tolerance ? gap : 0;
        prove(sentAt, by, given, by == ProofKind.WATCH ? tolerance : reach);
        if (by != ProofKind.WATCH || sentAt <= seenAt) {
            return Optional.empty();
        }
        long lasted = Math.max(given, now - (blind ? blindSince : seenAt));
        if (blind ? now - sentAt > tolerance / 2 : given == 0) {
            // Still late, or never blind.
            if (isBlind(now)) {
                youngSince = now;
            }
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
        SightChange change = sees(blind ? blindSince : seenAt, lasted, now);
        seenAt = sentAt;
        bookedAt = sentAt;
        return Optional.of(change);
    }

    /** The blindness that began at {@code since} is over. */
    private SightChange sees(long since, long lasted, long now) {
        book(now);
        StalledHop longest = longest();
        dark.forEach((explained, time) -> unreported.merge(explained, blind ? 0 : time, Long::sum));
        dark.clear();
        if (longest == StalledHop.CONTROLLER) {
            spans.removeIf(span -> span.until() > since);
        }
        blind = false;
        return new SightChange.Sees(longest, lasted, lost - lostBefore);
    }

    /**
     * All leases, or a sample of them, were read from {@code startedAt} on, and enough nodes had renewed their leases.
     *
     * @param interval the time between two such readings
     */
    public void renewalsRead(long startedAt, long interval, long now) {
        proveBeside(startedAt, ProofKind.RENEWALS, interval, now);
    }

    /**
     * Leases were read after this process had sent a write to another lease at {@code sentAt}, which was acknowledged
     * within the tolerance. That proves nothing while canaries, which are leases in the nodes' namespace, are refused
     * for a reason that may affect the nodes' renewals.
     *
     * @param interval the longer one of the times between two such writes and between two such readings
     */
    public void otherWrite(long sentAt, long interval, long now) {
        if (now - refusedForNodesAt <= RENEWALS * period) {
            return;
        }
        proveBeside(sentAt, ProofKind.WRITES, interval, now);
    }

    private void proveBeside(long at, ProofKind by, long interval, long now) {
        // A canary that hangs shows that writes hang, whatever was stored before.
        if (!on || !begun || now - answeredAt > tolerance) {
            return;
        }
        boolean byCanary = means == ProofKind.WATCH || means == ProofKind.LIST;
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

    private void prove(long at, ProofKind by, long given, long next) {
        if (at > provenAt) {
            if (given > 0) {
                spans.add(new DarkSpan(at - given, at));
                if (spans.size() > MOST_SPANS) {
                    spans.remove();
                }
            }
            provenAt = at;
            means = by;
            lost += given;
            reach = next;
        }
    }

    /** Detects blindness; called each period. A late call shows that this process stood still. */
    public Optional<SightChange> tick(long now) {
        Optional<StalledHop> named = 2 * canaryAge(now) > 3 * period ? book(now) : Optional.empty();
        tickedAt = now;
        if (!isBlind(now)) {
            // Canaries that are late all the time, but not too late, are sight, too.
            return blind && now - youngSince >= RENEWALS * period
                    ? Optional.of(sees(blindSince, now - blindSince, now))
                    : Optional.empty();
        }
        if (!blind) {
            blind = true;
            lostBefore = lost;
            provenBefore = provenAt;
            blindSince = seenAt;
            unreported.putAll(dark);
            hop = longest();
            return Optional.of(new SightChange.Blind(hop, seenAt));
        }
        if (named.isPresent() && named.get() != hop) {
            hop = named.get();
            return Optional.of(new SightChange.Renamed(hop, blindSince));
        }
        return Optional.empty();
    }

    /** The time of blindness since the last call, nanoseconds by the hop that explains it. */
    public Map<StalledHop, Long> takeBlindTime() {
        Map<StalledHop, Long> taken = new EnumMap<>(unreported);
        unreported.clear();
        return taken;
    }

    /** The state, for people. */
    public JsonObject json(long now) {
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

    /** The current blindness in words; empty while the controller has sight. */
    public Optional<String> blindness(long now) {
        return isBlind(now)
                ? Optional.of("nothing seen for " + Ages.text(canaryAge(now)) + ": " + hop.meaning() + " (" + hop
                        + "); " + judgement(now).meaning())
                : Optional.empty();
    }

    /** Adds the time since the last call to the hop that explains it best, and returns that hop. */
    private Optional<StalledHop> book(long now) {
        long span = now - bookedAt;
        if (span <= 0) {
            return Optional.empty();
        }
        bookedAt = now;
        long late = now - tickedAt - period;
        long paused = late > period / 2 ? Math.min(span, late) : 0;
        StalledHop rest = diagnose(now);
        add(StalledHop.CONTROLLER, paused);
        add(rest, span - paused);
        return Optional.of(2 * paused > span ? StalledHop.CONTROLLER : rest);
    }

    private void add(StalledHop explained, long time) {
        if (time > 0) {
            dark.merge(explained, time, Long::sum);
            if (blind) {
                unreported.merge(explained, time, Long::sum);
            }
        }
    }

    private StalledHop longest() {
        return dark.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(hop);
    }

    /** The hop that explains best why no canary returns. */
    private StalledHop diagnose(long now) {
        // Canaries and probes are sent each period, so the last answer is younger than two periods unless answers fail.
        long recently = now - 5 * period / 2;
        if (ackedAt > seenAt && ackCameAt > recently) {
            return StalledHop.WATCH;
        }
        return aliveAt > recently ? StalledHop.STORE : StalledHop.API_SERVER;
    }
}
