package io.nodekeeper.agent.facts;

/** A condition to report; its times follow from the stored condition. Immutable. */
public record ConditionReport(String type, String status, String reason, String message) {}
