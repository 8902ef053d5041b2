package io.nodekeeper.agent.problems.rules;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * The content of a rule file. Immutable.
 *
 * @param source the name of the monitor, for log lines and events
 * @param log the kernel's log, {@code /dev/kmsg}
 * @param lookback the age of the oldest message that is read at the start
 * @param bufferSize the messages that a pattern can match together, 1 to {@value RuleFileReader#BUFFER}
 * @param conditions the conditions and their state without a problem
 * @param rules tried for each message, in this order
 */
public record RuleFile(
        String source,
        Path log,
        Duration lookback,
        int bufferSize,
        List<DefaultCondition> conditions,
        List<Rule> rules) {

    /** Copies the lists. */
    public RuleFile {
        conditions = List.copyOf(conditions);
        rules = List.copyOf(rules);
    }
}
