package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.api.Condition;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The node's condition about what makes its runtime hang; its message changes only when the culprits do. Pure. */
public final class DegradedCondition {
    /** The type of the condition. */
    public static final String TYPE = "RuntimeDegraded";
    /** The reason of a condition that is False without a load. */
    private static final String RESPONSIVE = "RuntimeResponsive";
    /** The most culprits in the message: enough to act on, and short enough for one line. */
    private static final int NAMED = 3;

    private DegradedCondition() {}

    /**
     * The condition. Load alone does not make it True: calls are late, but nothing was found to be broken.
     *
     * @param culprits what hangs
     * @param loads what may make calls late
     * @param missing what must be known before the runtime can be called well
     * @param failure why the last diagnosis failed, so that the others are of an earlier one; empty if it did not
     */
    static ConditionReport of(List<Culprit> culprits, List<Culprit> loads, Optional<String> missing, String failure) {
        if (!failure.isEmpty()) {
            return unknown(
                    "DiagnosisFailed",
                    "it cannot be told whether the container runtime hangs, because the diagnosis failed: " + failure
                            + (culprits.isEmpty() ? "" : "; found before: " + summaries(culprits)));
        }
        if (!culprits.isEmpty()) {
            return new ConditionReport(TYPE, "True", culprits.getFirst().reason(), summaries(culprits));
        }
        if (missing.isPresent()) {
            return unknown(
                    "RuntimeNotLookedAt",
                    "the container runtime has not been examined completely yet: " + missing.get()
                            + (loads.isEmpty() ? "" : "; " + summaries(loads)));
        }
        return loads.isEmpty()
                ? new ConditionReport(
                        TYPE, "False", RESPONSIVE, "the container runtime answers and none of its processes hangs")
                : new ConditionReport(
                        TYPE, "False", loads.getFirst().reason(), "no process was found to hang; " + summaries(loads));
    }

    private static ConditionReport unknown(String reason, String message) {
        return new ConditionReport(TYPE, "Unknown", reason, message);
    }

    /** Whether a condition of a node says that there is only load. */
    public static boolean tellsLoad(Condition condition) {
        return condition.type().equals(TYPE)
                && condition.status().equals(Condition.FALSE)
                && !condition.reason().equals(RESPONSIVE);
    }

    private static String summaries(List<Culprit> culprits) {
        String more = culprits.size() > NAMED ? "; and " + (culprits.size() - NAMED) + " more" : "";
        return culprits.stream().limit(NAMED).map(Culprit::summary).collect(Collectors.joining("; ")) + more;
    }
}
