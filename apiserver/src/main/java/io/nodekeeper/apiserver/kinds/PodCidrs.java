package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonString;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The ranges of addresses of a Node's pods: at most one of each IP family. */
final class PodCidrs {
    private static final String PATH = "spec.podCIDRs";
    static final String MALFORMED = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
    /** As Go's net.ParseCIDR reads them: decimal parts without leading zeros, no zone. */
    private static final Pattern RANGE = Pattern.compile("([0-9A-Fa-f:.]+)/(0|[1-9][0-9]{0,2})");

    private static final Pattern V4 = Pattern.compile("(0|[1-9][0-9]{0,2})(\\.(0|[1-9][0-9]{0,2})){3}");

    private PodCidrs() {}

    /** Adds the faults of {@code ranges}. */
    static void check(List<String> ranges, List<FieldError> errors) {
        List<Integer> families = new ArrayList<>();
        for (int i = 0; i < ranges.size(); i++) {
            int bits = family(ranges.get(i));
            if (bits == 0) {
                errors.add(
                        FieldError.invalid(PATH + "[" + i + "]", new JsonString(ranges.get(i)).toString(), MALFORMED));
            }
            families.add(bits);
        }
        boolean pair = families.size() < 2
                || (families.size() == 2 && !families.getFirst().equals(families.getLast()));
        if (!pair) {
            errors.add(FieldError.invalid(
                    PATH,
                    ranges.stream()
                            .map(range -> new JsonString(range).toString())
                            .toList()
                            .toString(),
                    "may specify no more than one CIDR for each IP family"));
        }
    }

    /** Whether {@code range} is a range of addresses, such as {@code 10.9.8.0/24}. */
    static boolean isRange(String range) {
        return family(range) != 0;
    }

    /** The bits of an address of {@code range}: 32 or 128, or 0 if it is malformed. */
    private static int family(String range) {
        Matcher parts = RANGE.matcher(range);
        if (!parts.matches()) {
            return 0;
        }
        String address = parts.group(1);
        boolean v6 = address.contains(":");
        int bits = v6 ? 128 : 32;
        String v4 = v6 ? address.substring(address.lastIndexOf(':') + 1) : address;
        boolean dotted = v4.contains(".");
        if ((!v6 || dotted) && !V4.matcher(v4).matches()) {
            return 0;
        }
        try {
            // A literal with digits, dots and colons alone is never looked up.
            InetAddress.getByName(address);
            return Integer.parseInt(parts.group(2)) <= bits ? bits : 0;
        } catch (UnknownHostException e) {
            return 0;
        }
    }
}
