package io.nodekeeper.agent.certificates;

import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;

/** When a certificate is renewed: after 70 to 90 % of its life, as in client-go, so that nodes do not do so at once. */
final class Renewal {
    private static final double FIRST = 0.7;
    private static final double SPREAD = 0.2;

    private Renewal() {}

    static Instant time(X509Certificate certificate, RandomGenerator random) {
        Instant begin = certificate.getNotBefore().toInstant();
        Duration life = Duration.between(begin, certificate.getNotAfter().toInstant());
        return begin.plusMillis((long) (life.toMillis() * (FIRST + SPREAD * random.nextDouble())));
    }
}
