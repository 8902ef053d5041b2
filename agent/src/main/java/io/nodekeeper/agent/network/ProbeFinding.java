package io.nodekeeper.agent.network;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.cri.RuntimeCallException.Code;
import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.GoDuration;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The result of one probe, and the condition that reports it. Immutable.
 *
 * @param status of the condition: {@code True} is bad
 * @param reason of the condition
 * @param what the step, and how it ended
 * @param detail the runtime's error message; may be empty
 */
record ProbeFinding(String status, String reason, String what, String detail) {
    /**
     * True means bad, as for Kubernetes' own conditions; its NetworkUnavailable is set once by a plugin and is never
     * updated.
     */
    static final String TYPE = "PodNetworkUnavailable";

    static final ConditionReport PENDING = new ConditionReport(
            TYPE, Condition.UNKNOWN, "NetworkProbePending", "the first probe of the pod network has not ended yet");
    static final ProbeFinding GOOD = new ProbeFinding(
            Condition.FALSE,
            "NetworkProbeSucceeded",
            "a test sandbox was set up, got an address and was torn down",
            "");
    static final ProbeFinding NO_ADDRESS =
            new ProbeFinding(Condition.TRUE, "NoPodAddress", "a test sandbox was set up and got no address", "");
    private static final String NOT_ANSWERING = "RuntimeNotAnswering";

    /** Ids of sandboxes and names of network namespaces, which differ each time. */
    private static final Pattern IDS =
            Pattern.compile("\\b([0-9a-f]{64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\\b");
    /**
     * The longest error message in the condition, in characters: a plugin may print a page, and a Node's status is
     * stored and watched by many.
     */
    private static final int LONGEST_DETAIL = 512;

    /** The finding if {@code step} ends with {@code error}; empty if that counts as success. */
    static Optional<ProbeFinding> of(ProbeStep step, Throwable error) {
        Throwable cause = Failures.cause(error);
        Optional<Code> code =
                cause instanceof RuntimeCallException refused ? Optional.of(refused.code()) : Optional.empty();
        boolean late = cause instanceof DeadlineExceededException || code.equals(Optional.of(Code.DEADLINE_EXCEEDED));
        boolean ends = step == ProbeStep.TEARDOWN || step == ProbeStep.REMOVAL;
        if (ends && code.equals(Optional.of(Code.NOT_FOUND))) {
            return Optional.empty();
        }
        String reason = late ? step.hung() : step.failed();
        if (reason.isEmpty() || code.equals(Optional.of(Code.UNAVAILABLE))) {
            return Optional.of(
                    new ProbeFinding(Condition.UNKNOWN, NOT_ANSWERING, step.doing() + " failed", detail(cause)));
        }
        return Optional.of(
                late
                        ? new ProbeFinding(
                                Condition.TRUE,
                                reason,
                                step.doing() + " did not end within " + GoDuration.format(step.deadline()),
                                "")
                        : new ProbeFinding(Condition.TRUE, reason, step.doing() + " failed", detail(cause)));
    }

    /** Whether pods can have a network. */
    boolean good() {
        return status.equals(Condition.FALSE);
    }

    /** The condition, first true at {@code since}. */
    ConditionReport report(Instant since) {
        return new ConditionReport(TYPE, status, reason, good() ? what : since(since));
    }

    private String since(Instant since) {
        return what + ", first at " + KubeTime.format(since) + (detail.isEmpty() ? "" : ": " + detail);
    }

    private static String detail(Throwable cause) {
        String text = IDS.matcher(Failures.text(cause)).replaceAll("ID");
        return text.length() <= LONGEST_DETAIL ? text : text.substring(0, LONGEST_DETAIL) + "...";
    }
}
