package io.nodekeeper.agent.pods.probes;

import io.nodekeeper.agent.pods.model.ProbeSpec;

/**
 * What the results of one probe of one container say so far, with the kubelet's rules: a verdict changes after as many equal
 * results in a row as the threshold says. Immutable.
 *
 * @param lastSucceeded the newest result that counted
 * @param inRow how many results in a row were like it; 0 before the first one
 */
record ProbeTrack(ProbeSpec spec, Verdict verdict, boolean lastSucceeded, int inRow) {

    /** What is known. */
    enum Verdict {
        UNKNOWN,
        SUCCESS,
        FAILURE
    }

    /** A probe that has not run yet. */
    static ProbeTrack of(ProbeSpec spec, Verdict verdict) {
        return new ProbeTrack(spec, verdict, false, 0);
    }

    /** The track after one more result. */
    ProbeTrack after(ProbeResult result) {
        if (result.outcome() == ProbeResult.Outcome.ERROR) {
            return this;
        }
        boolean succeeded = result.isSuccess();
        int row = inRow > 0 && succeeded == lastSucceeded ? Math.min(inRow, Integer.MAX_VALUE - 1) + 1 : 1;
        int threshold = succeeded ? spec.successThreshold() : spec.failureThreshold();
        Verdict next = row < threshold ? verdict : succeeded ? Verdict.SUCCESS : Verdict.FAILURE;
        return new ProbeTrack(spec, next, succeeded, row);
    }
}
