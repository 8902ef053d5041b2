package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.Names;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Validates the ports, host aliases, host name and DNS configuration of a pod. */
final class NetworkRules {
    private static final List<String> POLICIES = List.of("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None");
    private static final int NAMESERVERS = 3;
    private static final int SEARCHES = 32;
    private static final int SEARCH_CHARACTERS = 2_048;
    private static final Pattern IPV4 = Pattern.compile("((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(\\.(?!$)|$)){4}");
    private static final Pattern GROUP = Pattern.compile("[0-9a-fA-F]{1,4}");

    private NetworkRules() {}

    static void check(FieldCheck spec, boolean isPod) {
        if (spec.bool("hostNetwork")) {
            for (FieldCheck container : spec.items("containers")) {
                for (FieldCheck port : container.items("ports")) {
                    long host = port.number("hostPort").orElse(0L);
                    if ((isPod || host != 0)
                            && host != port.number("containerPort").orElse(0L)) {
                        port.invalidNumber("hostPort", host, "must match `containerPort` when `hostNetwork` is true");
                    }
                }
            }
        }
        spec.oneOf("dnsPolicy", POLICIES);
        dnsConfig(spec);
        spec.formIfSet("hostname", Names::labelFault);
        spec.formIfSet("subdomain", Names::labelFault);
        for (FieldCheck alias : spec.items("hostAliases")) {
            alias.form("ip", NetworkRules::ipFault);
            alias.eachForm("hostnames", Names::subdomainFault);
        }
    }

    private static void dnsConfig(FieldCheck spec) {
        boolean none = spec.text("dnsPolicy").equals("None");
        if (!spec.has("dnsConfig")) {
            if (none) {
                spec.required("dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None");
            }
            return;
        }
        FieldCheck config = spec.object("dnsConfig");
        List<String> servers = config.texts("nameservers");
        List<String> searches = config.texts("searches");
        if (none && servers.isEmpty()) {
            config.required("nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None");
        }
        if (servers.size() > NAMESERVERS) {
            config.invalid("nameservers", "must not have more than " + NAMESERVERS + " nameservers");
        }
        config.eachForm("nameservers", NetworkRules::ipFault);
        if (searches.size() > SEARCHES) {
            config.invalid("searches", "must not have more than " + SEARCHES + " search paths");
        }
        if (String.join(" ", searches).length() > SEARCH_CHARACTERS) {
            config.invalid(
                    "searches",
                    "must not have more than " + SEARCH_CHARACTERS
                            + " characters (including spaces) in the search list");
        }
        config.eachForm(
                "searches",
                search ->
                        Names.subdomainFault(search.endsWith(".") ? search.substring(0, search.length() - 1) : search));
        for (FieldCheck option : config.items("options")) {
            if (option.text("name").isEmpty()) {
                option.required("", "must not be empty");
            }
        }
    }

    /** The error in an IPv4 or IPv6 address. */
    static Optional<String> ipFault(String address) {
        return IPV4.matcher(address).matches() || isIpv6(address)
                ? Optional.empty()
                : Optional.of("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    }

    private static boolean isIpv6(String address) {
        if (!address.contains(":") || address.length() > 45) {
            return false;
        }
        int gap = address.indexOf("::");
        if (gap >= 0 && address.indexOf("::", gap + 1) >= 0) {
            return false;
        }
        int groups = gap < 0
                ? groups(address, true)
                : groups(address.substring(0, gap), false) + groups(address.substring(gap + 2), true);
        return gap < 0 ? groups == 8 : groups >= 0 && groups < 8;
    }

    /** The number of 16-bit groups in {@code part}; far below zero if it is malformed. */
    private static int groups(String part, boolean last) {
        if (part.isEmpty()) {
            return 0;
        }
        int count = 0;
        String[] groups = part.split(":", -1);
        for (int i = 0; i < groups.length; i++) {
            if (last && i == groups.length - 1 && IPV4.matcher(groups[i]).matches()) {
                count += 2;
            } else if (GROUP.matcher(groups[i]).matches()) {
                count++;
            } else {
                return -100;
            }
        }
        return count;
    }
}
