package io.nodekeeper.agent.problems;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.api.Condition;
import io.nodekeeper.client.events.EventRecorder;
import java.util.List;

/**
 * The result of a check. Immutable.
 *
 * @param conditions the present state of conditions; a condition that is left out keeps its last state
 * @param events temporary problems since the last run
 */
public record Finding(List<ConditionReport> conditions, List<Temporary> events) {

    /**
     * An event on the node.
     *
     * @param type Normal or Warning
     * @param source the monitor of the log that it is from; empty for other checks
     */
    public record Temporary(String type, String reason, String message, String source) {
        /** One that is not from a log. */
        Temporary(String type, String reason, String message) {
            this(type, reason, message, "");
        }

        /** A problem. */
        static Temporary warning(String reason, String message) {
            return new Temporary(EventRecorder.WARNING, reason, message);
        }

        /** The same from a log. */
        Temporary from(String monitor) {
            return new Temporary(type, reason, message, monitor);
        }
    }

    /** Copies the lists. */
    public Finding {
        conditions = List.copyOf(conditions);
        events = List.copyOf(events);
    }

    /** One condition and no event. */
    static Finding of(ConditionReport condition) {
        return new Finding(List.of(condition), List.of());
    }

    /** A condition with the problem. */
    static ConditionReport problem(String type, String reason, String message) {
        return new ConditionReport(type, Condition.TRUE, reason, message);
    }

    /** A condition without the problem. */
    static ConditionReport fine(String type, String reason, String message) {
        return new ConditionReport(type, Condition.FALSE, reason, message);
    }
}
