package io.nodekeeper.agent.certificates;

import io.nodekeeper.api.IpLiteral;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import java.net.InetAddress;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The names for which the node's API needs a certificate: the addresses in the node's status. Immutable.
 *
 * @param dnsNames sorted, each once
 * @param addresses sorted, each once
 */
record ServingNames(List<String> dnsNames, List<InetAddress> addresses) {
    /** The types of GeneralName in RFC 5280, as Java numbers them. */
    private static final int DNS_NAME = 2;

    private static final int ADDRESS = 7;

    /** No names, as in the certificate of a client. */
    static final ServingNames NONE = new ServingNames(List.of(), List.of());

    /** Copies the lists. */
    ServingNames {
        dnsNames = List.copyOf(dnsNames);
        addresses = List.copyOf(addresses);
    }

    /** The names of {@code node}; empty as long as it has no IP address, for which the signer would issue nothing. */
    static Optional<ServingNames> of(Node node) {
        List<JsonObject> all = node.json()
                .object("status")
                .array("addresses")
                .objects()
                .filter(address -> !address.text("address").isEmpty())
                .toList();
        List<InetAddress> addresses = texts(all, "InternalIP", "ExternalIP", "Hostname")
                .flatMap(text -> IpLiteral.of(text).stream())
                .distinct()
                .toList();
        List<String> names = texts(all, "Hostname", "InternalDNS", "ExternalDNS")
                .filter(text -> !IpLiteral.is(text))
                .toList();
        return addresses.isEmpty() ? Optional.empty() : Optional.of(new ServingNames(names, addresses));
    }

    private static Stream<String> texts(List<JsonObject> addresses, String... types) {
        Set<String> wanted = Set.of(types);
        return addresses.stream()
                .filter(address -> wanted.contains(address.text("type")))
                .map(address -> address.text("address"))
                .distinct()
                .sorted();
    }

    /** Whether {@code certificate} is for all of them. */
    boolean areIn(X509Certificate certificate) {
        Set<Object> has = new HashSet<>();
        try {
            Collection<List<?>> entries = certificate.getSubjectAlternativeNames();
            for (List<?> entry : entries == null ? List.<List<?>>of() : entries) {
                String text = String.valueOf(entry.get(1));
                if (Objects.equals(entry.get(0), DNS_NAME)) {
                    has.add(text);
                } else if (Objects.equals(entry.get(0), ADDRESS)) {
                    IpLiteral.of(text).ifPresent(has::add);
                }
            }
        } catch (CertificateParsingException e) {
            return false;
        }
        return has.containsAll(dnsNames) && has.containsAll(addresses);
    }
}
