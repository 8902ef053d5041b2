package io.nodekeeper.api;

import java.net.InetAddress;
import java.util.Comparator;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** IP addresses as text. Looks nothing up. */
public final class IpLiteral {
    private static final Pattern FOUR_PARTS = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");

    /** At least two groups of an IPv6 address that are zero, in the form of Java, which has no leading zeros. */
    private static final Pattern ZEROS = Pattern.compile("(^|:)0(:0)+(:|$)");

    private IpLiteral() {}

    /** Whether {@code text} is an address, not a DNS name. */
    public static boolean is(String text) {
        return of(text).isPresent();
    }

    /**
     * The address that {@code text} is, as Kubernetes decides it: an IPv4 address has four decimal parts. Java would also take
     * {@code 1234} and {@code 10.1}, which may be names of nodes. Empty if it is none.
     */
    public static Optional<InetAddress> of(String text) {
        if (text.indexOf(':') < 0 && !FOUR_PARTS.matcher(text).matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(InetAddress.ofLiteral(text));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** The text that Kubernetes gives {@code address}: of IPv6 the short one (RFC 5952), such as {@code fd00::5}. */
    public static String text(InetAddress address) {
        String full = address.getHostAddress();
        return ZEROS.matcher(full)
                .results()
                // The first of the longest.
                .max(Comparator.comparingLong((MatchResult run) -> run.group()
                                .chars()
                                .filter(digit -> digit == '0')
                                .count())
                        .thenComparingInt(run -> -run.start()))
                .map(run -> full.substring(0, run.start()) + "::" + full.substring(run.end()))
                .orElse(full);
    }
}
