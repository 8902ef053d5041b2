package io.nodekeeper.agent.culprit.scan;

/**
 * How many periods a cgroup's processor quota has had, and in how many it was used up; counted since the cgroup was
 * created.
 */
public record CpuPeriods(long periods, long throttled) {}
