package io.nodekeeper.cli.certs;

import io.nodekeeper.api.IpLiteral;
import io.nodekeeper.client.certificates.CertificateRequest;
import io.nodekeeper.client.certificates.CertificateTemplate;
import io.nodekeeper.client.certificates.CertificateTemplate.Usage;
import io.nodekeeper.client.certificates.EcKeys;
import io.nodekeeper.client.config.Identity;
import java.math.BigInteger;
import java.net.InetAddress;
import java.security.KeyPair;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import javax.security.auth.x500.X500Principal;

/** A certificate authority: signs certificates for EC keys on P-256. Thread-safe if its randomness is. */
public final class Issuer {
    /** As kubeadm does. */
    static final Duration AUTHORITY_LIFE = Duration.ofDays(3_650);
    /** As kubeadm does. */
    static final Duration LIFE = Duration.ofDays(365);
    /** How far clocks of clients may be behind the server's; kube-controller-manager's signer uses the same. */
    private static final Duration BACKDATED = Duration.ofMinutes(5);

    private final Identity authority;
    private final RandomGenerator random;

    /** Signs with {@code authority}; {@code random} makes serial numbers. */
    public Issuer(Identity authority, RandomGenerator random) {
        this.authority = authority;
        this.random = random;
    }

    /** The authority's certificate. */
    X509Certificate certificate() {
        return authority.certificate();
    }

    /** A new authority; {@code key} is its old key pair when only the certificate is renewed. */
    public static Identity authority(KeyPair key, Instant now, RandomGenerator random) {
        return authority(key, now, AUTHORITY_LIFE, random);
    }

    /** A new authority that is valid for {@code life}. */
    public static Identity authority(KeyPair key, Instant now, Duration life, RandomGenerator random) {
        X509Certificate certificate = new CertificateTemplate(
                        CertificateTemplate.name("nodekeeper-ca", List.of()),
                        key.getPublic(),
                        serial(random),
                        now.minus(BACKDATED),
                        now.plus(life),
                        true,
                        Set.of(Usage.DIGITAL_SIGNATURE),
                        List.of(),
                        List.of())
                .signBySelf(key.getPrivate());
        return new Identity(key.getPrivate(), List.of(certificate));
    }

    /** A server's identity of an authority of its own, which signs nothing else: clients cannot verify it, as with a kubelet's. */
    public static Identity selfMade(String commonName, Collection<String> names, Instant now, RandomGenerator random) {
        return new Issuer(authority(EcKeys.newKey(), now, random), random).server(commonName, names, now);
    }

    /** A server's identity, valid for these DNS names and IP addresses. */
    public Identity server(String commonName, Collection<String> names, Instant now) {
        return server(commonName, names, now, LIFE);
    }

    /** The same for a certificate that is valid for {@code life}. */
    public Identity server(String commonName, Collection<String> names, Instant now, Duration life) {
        List<String> distinct = names.stream().distinct().toList();
        List<InetAddress> addresses =
                distinct.stream().flatMap(name -> IpLiteral.of(name).stream()).toList();
        List<String> dnsNames =
                distinct.stream().filter(name -> !IpLiteral.is(name)).toList();
        return leaf(CertificateTemplate.name(commonName, List.of()), Usage.SERVER_AUTH, dnsNames, addresses, now, life);
    }

    /** A client's identity: user {@code commonName} in {@code groups}. */
    public Identity client(String commonName, List<String> groups, Instant now) {
        return leaf(CertificateTemplate.name(commonName, groups), Usage.CLIENT_AUTH, List.of(), List.of(), now, LIFE);
    }

    /**
     * A certificate for the subject, the names and the key of {@code request}, as kube-controller-manager signs it.
     *
     * @param usages Kubernetes' names of usages; those that the two signers for kubelets allow
     * @param life how long it is valid, at most as long as the authority
     */
    public X509Certificate sign(CertificateRequest request, List<String> usages, Instant now, Duration life) {
        Duration most = Duration.between(now, certificate().getNotAfter().toInstant());
        EnumSet<Usage> granted = EnumSet.of(usages.contains("server auth") ? Usage.SERVER_AUTH : Usage.CLIENT_AUTH);
        if (usages.contains("digital signature")) {
            granted.add(Usage.DIGITAL_SIGNATURE);
        }
        if (usages.contains("key encipherment")) {
            granted.add(Usage.KEY_ENCIPHERMENT);
        }
        return sign(
                CertificateTemplate.name(request.commonName(), request.organizations()),
                request.key(),
                granted,
                request.dnsNames(),
                request.addresses(),
                now,
                life.compareTo(most) < 0 ? life : most);
    }

    private Identity leaf(
            X500Principal subject,
            Usage purpose,
            List<String> dnsNames,
            List<InetAddress> addresses,
            Instant now,
            Duration life) {
        KeyPair key = EcKeys.newKey();
        X509Certificate certificate = sign(
                subject, key.getPublic(), Set.of(Usage.DIGITAL_SIGNATURE, purpose), dnsNames, addresses, now, life);
        return new Identity(key.getPrivate(), List.of(certificate));
    }

    private X509Certificate sign(
            X500Principal subject,
            PublicKey key,
            Set<Usage> usages,
            List<String> dnsNames,
            List<InetAddress> addresses,
            Instant now,
            Duration life) {
        return new CertificateTemplate(
                        subject,
                        key,
                        serial(random),
                        now.minus(BACKDATED),
                        now.plus(life),
                        false,
                        usages,
                        dnsNames,
                        addresses)
                .sign(certificate(), authority.key());
    }

    /** 16 random bytes, as many as RFC 5280 allows to all readers, never 0. */
    private static BigInteger serial(RandomGenerator random) {
        byte[] serial = new byte[16];
        random.nextBytes(serial);
        return new BigInteger(1, serial).setBit(0);
    }
}
