package io.nodekeeper.bench.load;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;

/**
 * A fixed loop, whose time says how fast the machine is: SHA-256 of 64 MiB. Machines vary by a third from hour to hour; figures of two runs
 * can be compared by their ratios to it. The scripts run this file alone, so it uses nothing else of the project.
 */
final class ReferenceLoop {
    private ReferenceLoop() {}

    /** How long it takes on one core now, in milliseconds, the fastest of three. */
    static double millis() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] block = new byte[1 << 20];
            long fastest = Long.MAX_VALUE;
            for (int run = 0; run < 3; run++) {
                long began = System.nanoTime();
                for (int i = 0; i < 64; i++) {
                    digest.update(block);
                }
                digest.digest();
                fastest = Math.min(fastest, System.nanoTime() - began);
            }
            return fastest / 1e6;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java has no SHA-256", e);
        }
    }

    /** Prints it as the row of a table; the argument says when it was measured. */
    public static void main(String[] arguments) {
        System.out.printf(Locale.ROOT, "| reference loop %s | %.0f ms |%n", arguments[0], millis());
    }
}
