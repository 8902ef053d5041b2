package io.nodekeeper.controller.explain;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Texts;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.observer.Ages;
import java.time.Instant;
import java.util.Optional;

/**
 * One change of the status of a node's Ready condition as its kubelet or agent reported it, or several in a row.
 * Immutable.
 *
 * @param was the status before the first change; empty if there was none
 * @param now what the node reported last
 * @param notReady the last report in these changes whose status is not True
 * @param count the number of changes
 */
record ReadyChange(String was, Report now, Optional<Report> notReady, int count) {
    /** The longest status, in characters: no status of Kubernetes is longer than Unknown. */
    private static final int LONGEST_STATUS = 32;
    /** The longest reason, in characters: a word in CamelCase. */
    private static final int LONGEST_REASON = 128;
    /** The longest message, in characters: several sentences of a kubelet. What a node sends may be much longer. */
    private static final int LONGEST_MESSAGE = 512;

    /**
     * What the node reported, cut to a bounded length.
     *
     * @param since when the status changed, by the node's clock
     */
    record Report(String status, String reason, String message, Optional<Instant> since) {
        private static Report of(Condition condition) {
            return new Report(
                    Texts.cut(condition.status(), LONGEST_STATUS),
                    Texts.cut(condition.reason(), LONGEST_REASON),
                    Texts.cut(condition.message(), LONGEST_MESSAGE),
                    condition.lastTransitionTime());
        }

        private boolean isReady() {
            return status.equals(Condition.TRUE);
        }

        /** Reason and message in one line; either may be empty. */
        private String cause() {
            String separator = reason.isEmpty() || message.isEmpty() ? "" : ": ";
            return (reason + separator + message).replaceAll("\\s+", " ");
        }
    }

    /** The change from the status {@code was} to that of {@code condition}. */
    static ReadyChange of(String was, Condition condition) {
        Report report = Report.of(condition);
        return new ReadyChange(
                Texts.cut(was, LONGEST_STATUS), report, Optional.of(report).filter(unwell -> !unwell.isReady()), 1);
    }

    /** These changes and the next one, as one. */
    ReadyChange then(ReadyChange next) {
        return new ReadyChange(was, next.now, next.notReady.or(() -> notReady), count + next.count);
    }

    /** A sentence about it; {@code waited} is the time since the first change, nanoseconds. */
    String text(long waited) {
        String cause = now.cause();
        return cause.isEmpty() ? changed(waited) : changed(waited) + ": " + cause;
    }

    private String changed(long waited) {
        if (count > 1) {
            return "Ready changed " + count + " times in " + Ages.text(waited) + ", the last time to " + now.status;
        }
        String ago = waited == 0 ? "" : " " + Ages.text(waited) + " ago";
        return was.isEmpty()
                ? "Ready is " + now.status + " and had no status before" + ago
                : "Ready changed from " + was + " to " + now.status + ago;
    }

    /** The facts behind {@link #text}. */
    JsonObject details() {
        JsonObject.Builder details = JsonObject.builder()
                .putUnlessEmpty("was", was)
                .put("ready", now.status)
                .putUnlessEmpty("reason", now.reason)
                .putUnlessEmpty("message", now.message);
        now.since.ifPresent(since -> details.put("changedAt", KubeTime.format(since)));
        if (count > 1) {
            details.put("changes", count);
        }
        if (now.isReady()) {
            notReady.ifPresent(unwell -> details.put("lastNotReady", unwell.cause()));
        }
        return details.build();
    }
}
