package io.nodekeeper.cli.doctor.node;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.time.Clock;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** When the client certificate of kubelet or agent expires, and the authorities that it trusts. */
final class CertificateCheck implements NodeCheck {
    private static final String NAME = "certificates";
    /** A kubelet renews at 70 to 90 % of the life, so with a week left of a year the renewal does not work. */
    static final Duration SOON = Duration.ofDays(7);

    private final NodeAccess access;
    private final Clock clock;

    CertificateCheck(NodeAccess access, Clock clock) {
        this.access = access;
        this.clock = clock;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public CompletableFuture<CheckResult> run() {
        return CompletableFuture.completedFuture(access.access()
                .map(known -> judge(known, clock.wallTime()))
                .orElseGet(() -> CheckResult.unknown(NAME, access.fault())));
    }

    /** The result for these credentials at {@code now}. */
    static CheckResult judge(ServerAccess access, Instant now) {
        List<X509Certificate> all = new ArrayList<>();
        access.identity().ifPresent(identity -> all.add(identity.certificate()));
        all.addAll(access.authorities());
        if (all.isEmpty()) {
            return CheckResult.unknown(NAME, "the kubeconfig has no certificates");
        }
        X509Certificate first = Collections.min(all, Comparator.comparing(X509Certificate::getNotAfter));
        Instant end = first.getNotAfter().toInstant();
        String whose = access.identity()
                        .filter(identity -> identity.certificate().equals(first))
                        .isPresent()
                ? "the client certificate"
                : "the certificate authority " + first.getSubjectX500Principal().getName();
        Duration left = Duration.between(now, end);
        if (left.isNegative()) {
            return CheckResult.failed(
                    NAME,
                    whose + " expired at " + KubeTime.format(end) + "; the API server refuses it",
                    "kubeadm certs check-expiration");
        }
        String text = whose + " is valid until " + KubeTime.format(end) + ", for " + left.toDays() + " days";
        return left.compareTo(SOON) < 0
                ? CheckResult.warning(
                        NAME,
                        text + "; expected at least " + SOON.toDays(),
                        "journalctl -u kubelet | grep -i certificate")
                : CheckResult.ok(NAME, text);
    }
}
