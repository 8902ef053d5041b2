package io.nodekeeper.cli.guard;

import io.nodekeeper.cli.certs.Issuer;
import io.nodekeeper.client.certificates.EcKeys;
import io.nodekeeper.client.config.Identity;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * A serving certificate and the authority that signed it, which exists only for it. The keys never leave this process.
 *
 * @param names the DNS names and addresses that it is valid for
 * @param authority what the API server has to trust
 * @param identity what the server shows
 * @param issuedAt by the wall clock
 */
record ServingCertificate(List<String> names, X509Certificate authority, Identity identity, Instant issuedAt) {
    /** How long it is valid: a guard that cannot reach the API server for days still serves. */
    static final Duration LIFE = Duration.ofDays(7);
    /** When it is replaced: well before it expires, so that a week of failures is survived. */
    static final Duration REPLACED_AFTER = Duration.ofDays(1);

    /** A new one with new keys. */
    static ServingCertificate issue(List<String> names, Instant now, RandomGenerator random) {
        Identity authority = Issuer.authority(EcKeys.newKey(), now, LIFE, random);
        return new ServingCertificate(
                names,
                authority.certificate(),
                new Issuer(authority, random).server("nodekeeper-guard", names, now, LIFE),
                now);
    }

    /** Whether a client that trusts {@link #authority} and connects to these names accepts it. */
    boolean isAcceptedFor(List<String> wanted, Instant now) {
        return names.equals(wanted)
                && now.isBefore(identity.certificate().getNotAfter().toInstant())
                && now.isBefore(authority.getNotAfter().toInstant());
    }

    /** Whether it must be replaced. A wall clock that jumped back does not keep it for longer. */
    boolean isOld(List<String> wanted, Instant now) {
        return !names.equals(wanted)
                || !now.isBefore(issuedAt.plus(REPLACED_AFTER))
                || now.isBefore(issuedAt.minus(REPLACED_AFTER));
    }
}
