package io.nodekeeper.apiserver.controllers;

import io.nodekeeper.client.certificates.CertificateRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Signs certificates. Implementations are thread-safe and do no I/O. */
@FunctionalInterface
public interface CertificateAuthority {
    /**
     * The certificate for {@code request} in PEM.
     *
     * @param usages Kubernetes' names of them, such as {@code server auth}
     * @param life how long the client wants it to be valid; it may be valid for a shorter time
     */
    String sign(CertificateRequest request, List<String> usages, Optional<Duration> life);
}
