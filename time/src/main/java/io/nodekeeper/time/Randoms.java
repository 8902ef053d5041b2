package io.nodekeeper.time;

import java.security.SecureRandom;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Creates the sources of randomness that are passed to all other classes. */
public final class Randoms {
    private Randoms() {}

    /** Unpredictable and thread-safe: for UIDs, serial numbers and jitter in real processes. */
    public static RandomGenerator secure() {
        return new SecureRandom();
    }

    /** The same numbers for the same {@code seed}: for the simulator and tests. Not thread-safe. */
    public static RandomGenerator seeded(long seed) {
        return RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    }
}
