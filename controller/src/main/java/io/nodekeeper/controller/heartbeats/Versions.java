package io.nodekeeper.controller.heartbeats;

/**
 * Compares {@code resourceVersion}s. Numbers, which all known API servers use, are compared by value; of two other
 * versions, either may be the newer one.
 */
public final class Versions {
    /** Longer numbers may not fit in 64 bits. */
    private static final int MOST_DIGITS = 18;

    private Versions() {}

    /** Whether {@code version} may be newer than {@code seen}. */
    public static boolean isNewer(String version, String seen) {
        if (version.equals(seen)) {
            return false;
        }
        if (!isNumber(version) || !isNumber(seen)) {
            return true;
        }
        return version.length() != seen.length() ? version.length() > seen.length() : version.compareTo(seen) > 0;
    }

    /** A version in 64 bits: itself if it is a number, else something negative. */
    public static long number(String version) {
        return isNumber(version) && version.length() <= MOST_DIGITS
                ? Long.parseLong(version)
                : -1 - (version.hashCode() & 0xFFFF_FFFFL);
    }

    /** The same for results of {@link #number}. */
    public static boolean isNewer(long version, long seen) {
        return version != seen && (version < 0 || seen < 0 || version > seen);
    }

    private static boolean isNumber(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return !text.isEmpty();
    }
}
