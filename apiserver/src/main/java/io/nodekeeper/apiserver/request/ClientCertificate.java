package io.nodekeeper.apiserver.request;

import java.time.Instant;

/**
 * A client certificate that was verified when its connection began. A connection can last longer than the certificate.
 *
 * @param user whom it names
 * @param end when its validity ends
 */
public record ClientCertificate(User user, Instant end) {
    /** A certificate that stays valid. */
    public static ClientCertificate of(User user) {
        return new ClientCertificate(user, Instant.MAX);
    }
}
