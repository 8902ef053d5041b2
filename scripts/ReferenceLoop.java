import java.security.MessageDigest;

/**
 * Prints how long a fixed loop takes on one core now: SHA-256 of 64 MiB, the fastest of three. Machines vary by a third from hour to
 * hour; figures of two runs can be compared by their ratios to this one. The argument is when it was measured.
 */
final class ReferenceLoop {
    public static void main(String[] arguments) throws Exception {
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
        System.out.printf("| reference loop %s | %.0f ms |%n", arguments[0], fastest / 1e6);
    }
}
