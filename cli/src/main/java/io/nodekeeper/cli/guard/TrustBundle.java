package io.nodekeeper.cli.guard;

import io.nodekeeper.client.config.Pem;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Base64;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The certificates that the API server trusts for the webhook: those of all running guards. Each guard adds its own and
 * removes expired ones, so that several guards need no shared secret.
 */
final class TrustBundle {
    /** The most certificates: some guards, each with the current and the next one, and those of replaced pods. */
    static final int MOST = 16;

    private TrustBundle() {}

    /**
     * The bundle {@code stored} with {@code own}, without expired certificates, the newest first of {@link #MOST}.
     * Returns {@code stored} itself if that has the same certificates. What cannot be read is dropped.
     *
     * @param stored base64 of PEM; may be empty
     */
    static String merged(String stored, List<X509Certificate> own, Instant now) {
        Set<X509Certificate> had = read(stored);
        Set<X509Certificate> wanted = new LinkedHashSet<>(own);
        had.stream()
                .filter(certificate -> certificate.getNotAfter().toInstant().isAfter(now))
                .sorted(Comparator.comparing(X509Certificate::getNotBefore).reversed())
                .filter(certificate -> !own.contains(certificate))
                .limit(MOST - own.size())
                .forEach(wanted::add);
        if (wanted.equals(had)) {
            return stored;
        }
        StringBuilder pem = new StringBuilder();
        wanted.forEach(certificate -> pem.append(Pem.encode(certificate)));
        return Base64.getEncoder().encodeToString(pem.toString().getBytes(StandardCharsets.US_ASCII));
    }

    /** The certificates in {@code bundle}; none if it cannot be read. */
    static Set<X509Certificate> read(String bundle) {
        if (bundle.isEmpty()) {
            return Set.of();
        }
        try {
            return new LinkedHashSet<>(
                    Pem.certificates(new String(Base64.getDecoder().decode(bundle), StandardCharsets.US_ASCII)));
        } catch (IllegalArgumentException e) {
            return Set.of();
        }
    }
}
