package io.nodekeeper.agent.problems.rules;

/**
 * A condition of a rule file.
 *
 * @param type the condition's type
 * @param reason the reason while the status is False
 * @param message the message while the status is False
 */
public record DefaultCondition(String type, String reason, String message) {}
