package io.nodekeeper.agent.facts;

/** A condition as it should be; its times follow from what is stored. Immutable. */
public record ConditionReport(String type, String status, String reason, String message) {}
