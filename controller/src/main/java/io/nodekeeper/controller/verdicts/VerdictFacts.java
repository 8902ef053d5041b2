package io.nodekeeper.controller.verdicts;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.scan.LeaseLine;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.heartbeats.Signal;
import io.nodekeeper.controller.history.Evidence;
import io.nodekeeper.controller.metrics.Hop;
import io.nodekeeper.controller.observer.Ages;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.controller.observer.ProofKind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The evidence for a verdict, collected while a node is judged. It explains the verdict to people. Not thread-safe. */
public final class VerdictFacts {
    /**
     * The last heartbeat of a node.
     *
     * @param renewMicros {@code renewTime} of its lease, see {@link NodeHealth}
     * @param readyHeartbeat the heartbeat of its Ready condition; empty if there is none
     * @param lagMicros the time of the last renewal beyond the fastest one; negative if unknown
     * @param arrivedAt when it was seen, monotonic nanoseconds
     * @param lostBefore the total time that was subtracted from the nodes' clock before it, nanoseconds
     */
    record LastSign(
            Signal signal, long renewMicros, String readyHeartbeat, long lagMicros, long arrivedAt, long lostBefore) {
        private static final LastSign NONE = new LastSign(Signal.FIRST_SIGHT, LeaseLine.NO_TIME, "", -1, 0, 0);

        /** The last heartbeat of {@code health}. */
        static LastSign of(NodeHealth health) {
            return new LastSign(
                    health.signal(),
                    health.renewMicros(),
                    health.readyHeartbeat(),
                    health.lag().micros(),
                    health.arrivedAt(),
                    health.lostBefore());
        }

        private String sentByNode() {
            return signal == Signal.LEASE ? renewTime(renewMicros) : readyHeartbeat;
        }
    }

    /**
     * The controller's sight.
     *
     * @param guarded whether sight must be proven
     * @param means the kind of the last proof
     * @param lost the total time that was subtracted from the nodes' clock, nanoseconds
     */
    record Sight(boolean guarded, ProofKind means, long lost) {
        static Sight of(ObserverGuard guard) {
            return new Sight(guard.isOn(), guard.means(), guard.lost());
        }
    }

    private record Answer(String text, long took) {}

    private final long noticedAt;
    /** The most answers that are kept, because a write may be refused for days. */
    private static final int MAX_ANSWERS = 32;
    /** How many of these are the first answers, which explain the most. */
    private static final int FIRST_ANSWERS = 8;

    /** The first and the last answers, at most {@link #MAX_ANSWERS}. */
    private final List<Answer> answers = new ArrayList<>();

    private long provenAt;
    private ProofKind means = ProofKind.WATCH;
    private long readAt;
    private long sentAt;
    private long deadline;
    private long grace;
    private LastSign last = LastSign.NONE;
    private String read = "";

    /** The deadline was noticed at {@code noticedAt}, monotonic. */
    VerdictFacts(long noticedAt) {
        this.noticedAt = noticedAt;
    }

    /** Records the proof of sight. */
    void proven(ProofKind by, long now) {
        means = by;
        provenAt = now;
    }

    /** What was known before the live read, which may move the deadline; {@code missed} is monotonic. */
    void before(LastSign known, long missed, long allowed) {
        if (sentAt == 0) {
            deadline = missed;
            grace = allowed;
        }
        last = known;
    }

    /** The lease's renewTime as the API writes it; empty if there is none. */
    public static String renewTime(long micros) {
        return micros == LeaseLine.NO_TIME
                ? ""
                : KubeTime.formatMicro(Instant.ofEpochSecond(
                        Math.floorDiv(micros, 1_000_000), Math.floorMod(micros, 1_000_000) * 1_000L));
    }

    /** Records the result of a live read. */
    void read(JsonObject lease, Node node, long now) {
        readAt = now;
        String renewed = new Lease(lease).spec().text("renewTime");
        String heartbeat = node.ready()
                .map(Condition::json)
                .map(condition -> condition.text("lastHeartbeatTime"))
                .orElse("");
        read = (renewed.isEmpty() ? "no lease" : "lease renewed " + renewed)
                + (heartbeat.isEmpty() ? ", no status" : ", status of " + heartbeat);
    }

    /** Records that the verdict was sent, because of the deadline {@code missed}, monotonic. */
    void sent(long missed, long allowed, long now) {
        deadline = missed;
        grace = allowed;
        sentAt = now;
    }

    /** The deadline that was missed, monotonic; only after {@link #before}. */
    long deadline() {
        return deadline;
    }

    /** The last heartbeat before the verdict, for people. */
    String lastSignal(long now) {
        return last.signal + " " + Ages.text(now - last.arrivedAt) + " ago";
    }

    /** Records the API's answer to the write. */
    void answered(String answer, long now) {
        if (answers.size() == MAX_ANSWERS) {
            answers.remove(FIRST_ANSWERS);
        }
        answers.add(new Answer(answer, now - sentAt));
    }

    /** When the verdict was last sent, monotonic; 0 if it was not sent. */
    long sentAt() {
        return sentAt;
    }

    /** The evidence as JSON, for the node of that name. */
    JsonObject json(String name, Sight sight, Instant wallTime, long now) {
        Evidence evidence = new Evidence()
                .signal(last.signal.toString())
                .sentAt(last.sentByNode())
                .arrivedAt(wallTime.minusNanos(now - last.arrivedAt))
                .silence(Duration.ofNanos(now - last.arrivedAt))
                .grace(Duration.ofNanos(grace))
                .deadline(wallTime.minusNanos(now - deadline), Duration.ofNanos(Math.max(0, noticedAt - deadline)))
                .sight(text(sight));
        if (last.signal == Signal.LEASE && last.lagMicros >= 0) {
            evidence.lag(Hop.NODE_TO_CONTROLLER.label(), Duration.ofNanos(last.lagMicros * 1_000));
        }
        if (sight.lost > last.lostBefore) {
            evidence.fact("givenBack", Ages.text(sight.lost - last.lostBefore));
        }
        if (readAt != 0) {
            evidence.fact("liveLook", read + ", " + Ages.text(readAt - deadline) + " after the deadline");
        }
        if (sentAt != 0) {
            evidence.lag(Hop.DEADLINE_TO_DECISION.label(), Duration.ofNanos(sentAt - deadline));
        }
        String call = "PUT /api/v1/nodes/" + name + "/status";
        answers.forEach(answer -> evidence.write(call, answer.text, Duration.ofNanos(answer.took)));
        return evidence.json();
    }

    private String text(Sight sight) {
        if (!sight.guarded) {
            return "not proved: the gate ObserverGuard is disabled";
        }
        if (provenAt != 0 && means != ProofKind.WATCH) {
            return "the watch was too late; instead " + means.meaning() + ", "
                    + Ages.text(Math.max(0, provenAt - deadline))
                    + " after the deadline, so the stricter rule for live reads was used";
        }
        return provenAt == 0
                ? "not proved"
                : "a canary proved, " + Ages.text(Math.max(0, provenAt - deadline))
                        + " after the deadline, that everything written until then was seen";
    }
}
