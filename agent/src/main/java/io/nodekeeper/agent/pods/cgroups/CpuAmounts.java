package io.nodekeeper.agent.pods.cgroups;

/** Converts thousandths of a processor to the kernel's numbers, with Kubernetes' formulas. Stateless. */
public final class CpuAmounts {
    /** The kernel's period of processor time, µs. */
    public static final long PERIOD = 100_000;
    /** The smallest weight that the kernel accepts: that of a container which requests nothing. */
    public static final long LEAST_SHARES = 2;

    private static final long MOST_SHARES = 262_144;
    /** The weight of one processor. */
    private static final long SHARES = 1_024;
    /** The smallest quota that the kernel accepts, µs. */
    private static final long LEAST_QUOTA = 1_000;
    /** The largest weight of version 2. */
    private static final long MOST_WEIGHT = 10_000;

    private CpuAmounts() {}

    /** The weight for a request. */
    public static long shares(long millis) {
        return Math.clamp(millis * SHARES / 1_000, LEAST_SHARES, MOST_SHARES);
    }

    /** The µs of processor time in each {@link #PERIOD} for a limit; 0 for no limit. */
    public static long quota(long millis) {
        return millis == 0 ? 0 : Math.max(LEAST_QUOTA, millis * PERIOD / 1_000);
    }

    /** The weight of version 2 for {@code shares} of version 1: from 1 to 10000. */
    static long weight(long shares) {
        return 1 + (shares - LEAST_SHARES) * (MOST_WEIGHT - 1) / (MOST_SHARES - LEAST_SHARES);
    }
}
