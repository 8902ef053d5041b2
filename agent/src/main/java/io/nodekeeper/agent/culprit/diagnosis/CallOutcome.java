package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.calls.OverdueCall;
import io.nodekeeper.agent.calls.RefusedCall;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import java.time.Duration;

/**
 * The outcome of a call to the runtime. Immutable.
 *
 * @param askedAt the start by the monotonic clock in ns; for a late call, the start of the first late attempt
 * @param took the time until the answer; for a late call, the time until now
 * @param error the runtime's error message if it refused the call or was not reached
 * @param proven for a late call: whether it waited for its patience while the runtime is known to have answered others at
 *     once, so that no load can be the reason
 */
public record CallOutcome(RuntimeCall<?> call, long askedAt, Duration took, Kind kind, String error, boolean proven) {

    /** An outcome that shows what it says. */
    public CallOutcome(RuntimeCall<?> call, long askedAt, Duration took, Kind kind, String error) {
        this(call, askedAt, took, kind, error, true);
    }

    /** How it ended. */
    public enum Kind {
        /** Answered. */
        ANSWERED,
        /** Answered with an error. */
        REFUSED,
        /** Not answered yet, or not within its deadline. */
        LATE,
        /** No process accepted the connection. */
        UNREACHABLE
    }

    /** A call that was answered. */
    public static CallOutcome of(RuntimeCall<?> call, long askedAt, Duration took) {
        return new CallOutcome(call, askedAt, took, Kind.ANSWERED, "");
    }

    /** A call that failed. */
    public static CallOutcome failed(RuntimeCall<?> call, long askedAt, Duration took, Throwable error) {
        Throwable cause = Failures.cause(error);
        boolean unreachable = RuntimeCallException.isCode(cause, RuntimeCallException.Code.UNAVAILABLE);
        Kind kind = RuntimeCallException.isTimeout(cause) ? Kind.LATE : unreachable ? Kind.UNREACHABLE : Kind.REFUSED;
        return new CallOutcome(call, askedAt, took, kind, Failures.text(error));
    }

    /** An overdue call of the tracker. */
    public static CallOutcome of(OverdueCall trouble, long now) {
        return new CallOutcome(trouble.call(), trouble.since(), Duration.ofNanos(now - trouble.since()), Kind.LATE, "");
    }

    /** A call of the tracker that is refused again and again. */
    public static CallOutcome of(RefusedCall trouble, long now) {
        return new CallOutcome(
                trouble.call(),
                trouble.since(),
                Duration.ofNanos(now - trouble.since()),
                Kind.REFUSED,
                trouble.error());
    }

    /** The same, proven or not. */
    public CallOutcome proven(boolean known) {
        return new CallOutcome(call, askedAt, took, kind, error, known);
    }

    /** Whether the runtime answered, with an error or not. */
    public boolean answered() {
        return kind == Kind.ANSWERED || kind == Kind.REFUSED;
    }
}
