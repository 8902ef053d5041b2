package io.nodekeeper.cli.doctor.node;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.time.Clock;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

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
                .map(known -> judge(known, access.unit(), clock.wallTime()))
                .orElseGet(() -> CheckResult.unknown(NAME, access.fault())));
    }

    /**
     * The result for these credentials of {@code unit} at {@code now}: the worse one of the client certificate and the authorities. Of
     * these one that is valid is enough, so the one that is valid longest counts.
     */
    static CheckResult judge(ServerAccess access, String unit, Instant now) {
        Optional<CheckResult> client =
                access.identity().map(identity -> judge("the client certificate", identity.certificate(), unit, now));
        Optional<CheckResult> authority = access.authorities().stream()
                .max(Comparator.comparing(X509Certificate::getNotAfter))
                .map(longest -> judge("the certificate authority " + name(longest), longest, unit, now));
        return Stream.of(client, authority, expired(access.authorities(), now))
                .flatMap(Optional::stream)
                // The first one of several that are equally bad.
                .reduce((one, other) -> other.state().compareTo(one.state()) > 0 ? other : one)
                .orElseGet(() -> CheckResult.unknown(NAME, "the kubeconfig has no certificates"));
    }

    private static CheckResult judge(String whose, X509Certificate certificate, String unit, Instant now) {
        Instant end = certificate.getNotAfter().toInstant();
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
                        "journalctl -u " + unit + " | grep -i certificate")
                : CheckResult.ok(NAME, text);
    }

    /** A warning of an authority that has expired beside others. */
    private static Optional<CheckResult> expired(List<X509Certificate> authorities, Instant now) {
        return authorities.stream()
                .filter(authority -> authority.getNotAfter().toInstant().isBefore(now))
                .findFirst()
                .map(authority -> CheckResult.warning(
                        NAME,
                        "the certificate authority " + name(authority) + " expired at "
                                + KubeTime.format(authority.getNotAfter().toInstant())
                                + "; remove it from the kubeconfig, and check that no server uses it",
                        "kubeadm certs check-expiration"));
    }

    private static String name(X509Certificate certificate) {
        return certificate.getSubjectX500Principal().getName();
    }
}
