package io.nodekeeper.agent.companion;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What the kubelet of this node is about to report, and why. Immutable.
 *
 * @param reason in CamelCase, for the condition and events
 * @param part the part of the kubelet that will fail, as in {@code the kubelet's PLEG}
 * @param at when the kubelet will report NotReady; empty if that is not known, or if it cannot report at all
 * @param pod the pod that is the cause as {@code namespace/name}; empty if none is known
 * @param facts the observations behind it
 * @param measured whether the kubelet's own metrics say so; otherwise it follows from the companion's own calls
 */
record Forecast(
        String reason, String part, Optional<Instant> at, Optional<String> pod, String facts, boolean measured) {
    /** A relist older than this makes the kubelet's PLEG unhealthy (Kubernetes' relistThreshold). */
    static final Duration RELIST_THRESHOLD = Duration.ofMinutes(3);
    /** A runtime that has not reported its status for this time is down (Kubernetes' runtime threshold). */
    static final Duration RUNTIME_THRESHOLD = Duration.ofSeconds(30);
    /**
     * A relist of a healthy node takes well under a second and one is due each second. After 30 s, a sixth of the threshold,
     * it is stalled, and 150 s are left to act.
     */
    static final Duration RELIST_LATE = Duration.ofSeconds(30);
    /** Three periods of the kubelet's status calls (5 s); half of the threshold is left to act. */
    static final Duration STATUS_LATE = Duration.ofSeconds(15);
    /** An estimate that has not come true this long after its time was wrong: the kubelet does not wait for that call. */
    static final Duration WRONG = Duration.ofSeconds(30);

    private static final String PLEG = "the kubelet's PLEG";
    private static final String SLOW = "PLEGSlow";
    private static final String ESTIMATE = "; an estimate, because the kubelet's metrics cannot be read";
    /** Between two forecasts of the same thing, times may differ by the precision of the clocks' readings. */
    private static final Duration SAME = Duration.ofSeconds(3);

    /**
     * A pod whose inspection the runtime does not answer.
     *
     * @param since when the first unanswered inspection began
     */
    record Stuck(String pod, Instant since) {}

    /**
     * What is known.
     *
     * @param nodeReady whether the Node's Ready is True
     * @param silentSince when the kubelet's health checks began to fail; empty if only one has failed, or none was ever answered
     * @param metrics what the kubelet's metrics said last; empty if they cannot be read
     * @param scrapedAt when they were read
     * @param listedAt when the companion's own last list of pods began; empty if there is no runtime or no list
     * @param statusAt when the runtime last reported that it is ready; empty as before
     * @param stuck the pods that the companion cannot inspect, the longest first
     */
    record Facts(
            boolean nodeReady,
            Optional<Instant> silentSince,
            Optional<KubeletMetrics> metrics,
            Instant scrapedAt,
            Optional<Instant> listedAt,
            Optional<Instant> statusAt,
            List<Stuck> stuck) {

        /** Nothing is known, and the node is ready. */
        static final Facts NONE = new Facts(
                true, Optional.empty(), Optional.empty(), Instant.EPOCH, Optional.empty(), Optional.empty(), List.of());
    }

    /** What the kubelet will report first; empty if it goes on as it is. */
    static Optional<Forecast> of(Facts facts, Instant now) {
        Optional<Forecast> silent = facts.silentSince()
                .map(since -> new Forecast(
                        "KubeletNotAnswering",
                        "the kubelet",
                        Optional.empty(),
                        Optional.empty(),
                        "its health check has failed since " + KubeTime.format(since)
                                + "; if its lease is not renewed for 40s, the node becomes Unknown",
                        true));
        if (silent.isPresent()) {
            // What a kubelet that does not run would report does not matter.
            return silent;
        }
        List<Forecast> all = new ArrayList<>();
        facts.statusAt()
                .filter(seen -> late(seen, now, STATUS_LATE))
                .ifPresent(seen -> all.add(new Forecast(
                        "RuntimeStatusStalled",
                        "the kubelet",
                        Optional.of(seen.plus(RUNTIME_THRESHOLD)),
                        Optional.empty(),
                        "the container runtime has not reported that it is ready since " + KubeTime.format(seen)
                                + ", threshold " + GoDuration.format(RUNTIME_THRESHOLD),
                        false)));
        pleg(facts, now).ifPresent(all::add);
        return all.stream()
                .filter(forecast -> !forecast.wrong(facts.nodeReady(), now))
                .min(Comparator.comparing(forecast -> forecast.at().orElse(Instant.MAX)));
    }

    /** The PLEG: what its own metrics say if they can be read, else what the companion's own calls suggest. */
    private static Optional<Forecast> pleg(Facts facts, Instant now) {
        Optional<String> pod = facts.stuck().stream().map(Stuck::pod).findFirst();
        if (facts.metrics().isPresent()) {
            KubeletMetrics metrics = facts.metrics().get();
            // The age at the time of the scrape: a scrape that fails afterwards says nothing about the PLEG.
            Optional<Forecast> stalled = metrics.lastRelist()
                    .filter(seen -> !metrics.evented() && late(seen, facts.scrapedAt(), RELIST_LATE))
                    .map(seen -> pleg("PLEGStalled", seen, pod, "its last relist began at", failing(metrics), true));
            return stalled.or(() -> slow(metrics, pod));
        }
        Optional<Forecast> list = facts.listedAt()
                .filter(seen -> late(seen, now, RELIST_LATE))
                .map(seen -> pleg(
                        "PLEGStallExpected",
                        seen,
                        pod,
                        "the container runtime last listed its pods at",
                        ESTIMATE,
                        false));
        return list.or(() -> facts.stuck().stream()
                .findFirst()
                .map(stuck -> pleg(
                        "PLEGStallExpected",
                        stuck.since(),
                        pod,
                        "the container runtime has not answered for this pod since",
                        ESTIMATE,
                        false)));
    }

    /** Relists that end, but take long: between two of them the last one is never old. */
    private static Optional<Forecast> slow(KubeletMetrics metrics, Optional<String> pod) {
        return metrics.relistTime()
                .filter(time -> !metrics.evented() && time.compareTo(RELIST_LATE) >= 0)
                .map(time -> new Forecast(
                        SLOW,
                        PLEG,
                        Optional.empty(),
                        pod,
                        "its relists take " + GoDuration.format(Duration.ofSeconds(time.toSeconds()))
                                + "; if one takes " + GoDuration.format(RELIST_THRESHOLD)
                                + ", it calls this node NotReady" + failing(metrics),
                        true));
    }

    private static String failing(KubeletMetrics metrics) {
        return metrics.failing().isEmpty()
                ? ""
                : "; these calls of it to the runtime fail: " + String.join(", ", metrics.failing());
    }

    private static Forecast pleg(
            String reason, Instant since, Optional<String> pod, String fact, String more, boolean measured) {
        return new Forecast(
                reason,
                PLEG,
                Optional.of(since.plus(RELIST_THRESHOLD)),
                pod,
                fact + " " + KubeTime.format(since) + ", threshold " + GoDuration.format(RELIST_THRESHOLD) + more,
                measured);
    }

    private static boolean late(Instant since, Instant now, Duration limit) {
        return Duration.between(since, now).compareTo(limit) >= 0;
    }

    /** Whether its time has come and the kubelet reports Ready nevertheless. */
    private boolean wrong(boolean nodeReady, Instant now) {
        return nodeReady
                && !measured
                && at.filter(time -> late(time, now, WRONG)).isPresent();
    }

    /** This forecast, or {@code before} if both say the same up to the precision of the clocks' readings. */
    Forecast or(Optional<Forecast> before) {
        return before.filter(old -> old.reason.equals(reason)
                        && old.pod.equals(pod)
                        && old.measured == measured
                        && Duration.between(old.at.orElse(Instant.EPOCH), at.orElse(Instant.EPOCH))
                                        .abs()
                                        .compareTo(SAME)
                                <= 0)
                .orElse(this);
    }

    /** Whether it is about the same cause as {@code other}, possibly at another time. */
    boolean sameCause(Forecast other) {
        return reason.equals(other.reason) && pod.equals(other.pod);
    }

    /** The condition's message, which stays the same as time passes, except once: when the time has come. */
    String message(Instant now) {
        return at.map(time -> part + (time.isAfter(now) ? " will call" : " calls") + " this node NotReady "
                                + (time.isAfter(now) ? "at " : "since ") + KubeTime.format(time) + because())
                        .orElse(part + (reason.equals(SLOW) ? " is slow" + because() : " does not answer"))
                + ": " + facts;
    }

    /** The event's message, with the time that is left. */
    String announcement(Instant now) {
        return at.filter(time -> time.isAfter(now))
                .map(time -> part + " will call this node NotReady in "
                        + GoDuration.format(
                                Duration.ofSeconds(Duration.between(now, time).toSeconds()))
                        + because() + ": " + facts)
                .orElseGet(() -> message(now));
    }

    private String because() {
        return pod.map(name -> " because of pod " + name).orElse("");
    }
}
