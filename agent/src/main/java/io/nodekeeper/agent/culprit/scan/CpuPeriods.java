package io.nodekeeper.agent.culprit.scan;

/** How often a cgroup's processor quota was looked at, and how often it was used up; counts since the cgroup was made. */
public record CpuPeriods(long periods, long throttled) {}
