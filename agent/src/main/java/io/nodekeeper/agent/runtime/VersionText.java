package io.nodekeeper.agent.runtime;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Formats a container runtime's version as the kubelet reports it: a semantic version stays as it is, anything else is
 * reduced to its leading numbers and dots. So a distribution's suffix is removed ({@code 1.6.20~ds1} becomes
 * {@code 1.6.20}), and a pre-release stays ({@code 1.7.0-rc.1}).
 */
final class VersionText {
    private static final Pattern NUMBERS = Pattern.compile("\\s*v?([0-9]+(?:\\.[0-9]+)*)(.*)");
    private static final String PARTS = "[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*";
    private static final Pattern EXTRA = Pattern.compile("((?:-" + PARTS + ")?(?:\\+" + PARTS + ")?)\\s*");
    private static final BigInteger LARGEST = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

    private VersionText() {}

    /** The version in {@code reported}; empty if it does not begin with at least two numbers. */
    static Optional<String> of(String reported) {
        Matcher version = NUMBERS.matcher(reported);
        if (!version.matches()) {
            return Optional.empty();
        }
        String[] numbers = version.group(1).split("\\.");
        boolean tooLarge = Arrays.stream(numbers).anyMatch(number -> new BigInteger(number).compareTo(LARGEST) > 0);
        if (numbers.length < 2 || tooLarge) {
            return Optional.empty();
        }
        Matcher extra = EXTRA.matcher(version.group(2));
        boolean semantic = numbers.length == 3
                && extra.matches()
                && Arrays.stream(numbers).noneMatch(VersionText::isPadded)
                && Arrays.stream(release(extra.group(1))).noneMatch(VersionText::isPadded);
        String plain = Arrays.stream(numbers)
                .map(number -> new BigInteger(number).toString())
                .collect(Collectors.joining("."));
        return Optional.of(semantic ? plain + extra.group(1) : plain);
    }

    /** The parts of a pre-release. */
    private static String[] release(String extra) {
        int metadata = extra.indexOf('+');
        String release = metadata < 0 ? extra : extra.substring(0, metadata);
        return release.isEmpty() ? new String[0] : release.substring(1).split("\\.");
    }

    /** Whether it is a number with a leading zero, which semantic versions do not allow. */
    private static boolean isPadded(String part) {
        return part.length() > 1 && part.startsWith("0") && part.chars().allMatch(c -> c >= '0' && c <= '9');
    }
}
