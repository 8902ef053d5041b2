package io.nodekeeper.cli.apiserver;

import io.nodekeeper.apiserver.controllers.CertificateAuthority;
import io.nodekeeper.cli.certs.Issuer;
import io.nodekeeper.client.certificates.CertificateRequest;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Signs with an issuer's key. Immutable.
 *
 * @param longest how long certificates are valid, unless the request asks for less
 */
record SigningAuthority(Issuer issuer, Duration longest, Clock clock) implements CertificateAuthority {
    @Override
    public String sign(CertificateRequest request, List<String> usages, Optional<Duration> life) {
        return Pem.encode(issuer.sign(
                request,
                usages,
                clock.wallTime(),
                life.filter(asked -> asked.compareTo(longest) < 0).orElse(longest)));
    }
}
