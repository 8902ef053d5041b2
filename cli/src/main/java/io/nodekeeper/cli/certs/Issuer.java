package io.nodekeeper.cli.certs;

import io.nodekeeper.cli.command.Arguments;
import io.nodekeeper.client.certificates.CertificateRequest;
import io.nodekeeper.client.certificates.EcKeys;
import io.nodekeeper.client.config.Identity;
import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/** A certificate authority: signs certificates for EC keys on P-256. Thread-safe if its randomness is. */
public final class Issuer {
    /** As kubeadm does. */
    static final Duration AUTHORITY_LIFE = Duration.ofDays(3_650);
    /** As kubeadm does. */
    static final Duration LIFE = Duration.ofDays(365);
    /** How far clocks of clients may be behind the server's; kube-controller-manager's signer uses the same. */
    private static final Duration BACKDATED = Duration.ofMinutes(5);

    private static final String SIGNATURE = "SHA256withECDSA";

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
        X500Name name = name("nodekeeper-ca", List.of());
        X509Certificate certificate =
                sign(name, key.getPrivate(), name, key.getPublic(), now, life, random, builder -> {
                    builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(true));
                    builder.addExtension(
                            Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign | KeyUsage.digitalSignature));
                    builder.addExtension(
                            Extension.subjectKeyIdentifier,
                            false,
                            new JcaX509ExtensionUtils().createSubjectKeyIdentifier(key.getPublic()));
                });
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
        GeneralName[] alternatives = names.stream()
                .distinct()
                .map(name ->
                        new GeneralName(Arguments.isAddress(name) ? GeneralName.iPAddress : GeneralName.dNSName, name))
                .toArray(GeneralName[]::new);
        return leaf(name(commonName, List.of()), KeyPurposeId.id_kp_serverAuth, alternatives, now, life);
    }

    /** A client's identity: user {@code commonName} in {@code groups}. */
    public Identity client(String commonName, List<String> groups, Instant now) {
        return leaf(name(commonName, groups), KeyPurposeId.id_kp_clientAuth, new GeneralName[0], now, LIFE);
    }

    /**
     * A certificate for the subject, the names and the key of {@code request}, as kube-controller-manager signs it.
     *
     * @param usages Kubernetes' names of usages; those that the two signers for kubelets allow
     * @param life how long it is valid, at most as long as the authority
     */
    public X509Certificate sign(CertificateRequest request, List<String> usages, Instant now, Duration life) {
        Duration most = Duration.between(now, certificate().getNotAfter().toInstant());
        GeneralName[] names = Stream.concat(
                        request.dnsNames().stream().map(name -> new GeneralName(GeneralName.dNSName, name)),
                        request.addresses().stream()
                                .map(address -> new GeneralName(GeneralName.iPAddress, address.getHostAddress())))
                .toArray(GeneralName[]::new);
        int bits = usages.contains("digital signature") ? KeyUsage.digitalSignature : 0;
        int usage = bits | (usages.contains("key encipherment") ? KeyUsage.keyEncipherment : 0);
        return leaf(
                name(request.commonName(), request.organizations()),
                request.key(),
                usage,
                usages.contains("server auth") ? KeyPurposeId.id_kp_serverAuth : KeyPurposeId.id_kp_clientAuth,
                names,
                now,
                life.compareTo(most) < 0 ? life : most);
    }

    private interface Extensions {
        void addTo(X509v3CertificateBuilder builder) throws IOException, GeneralSecurityException;
    }

    private Identity leaf(X500Name subject, KeyPurposeId purpose, GeneralName[] names, Instant now, Duration life) {
        KeyPair key = EcKeys.newKey();
        X509Certificate certificate =
                leaf(subject, key.getPublic(), KeyUsage.digitalSignature, purpose, names, now, life);
        return new Identity(key.getPrivate(), List.of(certificate));
    }

    private X509Certificate leaf(
            X500Name subject,
            PublicKey key,
            int usage,
            KeyPurposeId purpose,
            GeneralName[] names,
            Instant now,
            Duration life) {
        X500Name issuer =
                X500Name.getInstance(certificate().getSubjectX500Principal().getEncoded());
        return sign(issuer, authority.key(), subject, key, now, life, random, builder -> {
            builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
            builder.addExtension(Extension.keyUsage, true, new KeyUsage(usage));
            builder.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(purpose));
            builder.addExtension(
                    Extension.authorityKeyIdentifier,
                    false,
                    new JcaX509ExtensionUtils().createAuthorityKeyIdentifier(certificate()));
            if (names.length > 0) {
                builder.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(names));
            }
        });
    }

    private static X509Certificate sign(
            X500Name issuer,
            PrivateKey issuerKey,
            X500Name subject,
            PublicKey key,
            Instant now,
            Duration life,
            RandomGenerator random,
            Extensions extensions) {
        try {
            byte[] serial = new byte[16];
            random.nextBytes(serial);
            X509v3CertificateBuilder builder = new JcaX509v3CertificateBuilder(
                    issuer,
                    new BigInteger(1, serial).setBit(0),
                    Date.from(now.minus(BACKDATED)),
                    Date.from(now.plus(life)),
                    subject,
                    key);
            extensions.addTo(builder);
            return new JcaX509CertificateConverter()
                    .getCertificate(builder.build(new JcaContentSignerBuilder(signature(issuerKey)).build(issuerKey)));
        } catch (IOException | GeneralSecurityException | OperatorCreationException e) {
            throw new IllegalStateException("cannot create a certificate for " + subject + ": " + e.getMessage(), e);
        }
    }

    private static String signature(PrivateKey key) {
        return key.getAlgorithm().equals("RSA") ? "SHA256withRSA" : SIGNATURE;
    }

    private static X500Name name(String commonName, List<String> groups) {
        X500NameBuilder name = new X500NameBuilder(BCStyle.INSTANCE);
        groups.forEach(group -> name.addRDN(BCStyle.O, group));
        return name.addRDN(BCStyle.CN, commonName).build();
    }
}
