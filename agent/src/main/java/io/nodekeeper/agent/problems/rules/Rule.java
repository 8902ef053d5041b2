package io.nodekeeper.agent.problems.rules;

import com.google.re2j.Pattern;
import java.util.Optional;

/**
 * A rule for log messages. Immutable.
 *
 * @param condition the condition that a permanent problem sets to True; empty for a temporary problem, which is an event
 * @param reason the reason of the event or of the condition
 * @param pattern must match at the end of the buffered messages; RE2 syntax, so the match takes linear time
 */
public record Rule(Optional<String> condition, String reason, Pattern pattern) {}
