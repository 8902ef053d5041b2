package io.nodekeeper.agent.pods.probes;

/**
 * How one action ended. Immutable.
 *
 * @param output for people, at most 10 KiB
 * @param answered whether what was asked answered at all, even with an error
 */
public record ProbeResult(Outcome outcome, String output, boolean answered) {

    /** What an action's end counts as. */
    public enum Outcome {
        /** It succeeded. */
        SUCCESS,
        /** It succeeded as far as it was followed: the server named another host. */
        WARNING,
        /** It failed, or took too long. */
        FAILURE,
        /** It could not be tried, which says nothing about the container. */
        ERROR
    }

    static ProbeResult success(String output) {
        return new ProbeResult(Outcome.SUCCESS, output, true);
    }

    static ProbeResult failure(String output) {
        return new ProbeResult(Outcome.FAILURE, output, false);
    }

    static ProbeResult error(String output) {
        return new ProbeResult(Outcome.ERROR, output, false);
    }

    /** Whether it counts as a success. */
    public boolean isSuccess() {
        return outcome == Outcome.SUCCESS || outcome == Outcome.WARNING;
    }
}
