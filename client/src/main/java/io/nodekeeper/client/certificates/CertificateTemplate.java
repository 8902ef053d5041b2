package io.nodekeeper.client.certificates;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.naming.ldap.Rdn;
import javax.security.auth.x500.X500Principal;

/**
 * What an X.509 certificate of version 3 (RFC 5280) is to say. Immutable.
 *
 * @param subject whose certificate it is; see {@link #name}
 * @param key the subject's public key
 * @param serial positive, at most 20 bytes
 * @param notBefore the start of its validity, in whole seconds
 * @param notAfter the end of its validity, in whole seconds
 * @param authority whether the key may sign certificates
 * @param usages what else the key may be used for
 * @param dnsNames DNS names for which it is valid
 * @param addresses IP addresses for which it is valid
 */
public record CertificateTemplate(
        X500Principal subject,
        PublicKey key,
        BigInteger serial,
        Instant notBefore,
        Instant notAfter,
        boolean authority,
        Set<Usage> usages,
        List<String> dnsNames,
        List<InetAddress> addresses) {
    /** What a key may be used for, with the names that Kubernetes gives them. */
    public enum Usage {
        DIGITAL_SIGNATURE,
        KEY_ENCIPHERMENT,
        SERVER_AUTH,
        CLIENT_AUTH
    }

    private static final HexFormat HEX = HexFormat.of();
    /** [0] { version 3 } */
    private static final byte[] VERSION = HEX.parseHex("a003020102");

    private static final byte[] ECDSA_SHA256 = HEX.parseHex("300a06082a8648ce3d040302");
    private static final byte[] RSA_SHA256 = HEX.parseHex("300d06092a864886f70d01010b0500");
    private static final byte[] BASIC_CONSTRAINTS = HEX.parseHex("0603551d13");
    private static final byte[] KEY_USAGE = HEX.parseHex("0603551d0f");
    private static final byte[] EXTENDED_KEY_USAGE = HEX.parseHex("0603551d25");
    private static final byte[] SUBJECT_KEY = HEX.parseHex("0603551d0e");
    private static final byte[] AUTHORITY_KEY = HEX.parseHex("0603551d23");
    private static final byte[] SERVER_AUTH = HEX.parseHex("06082b06010505070301");
    private static final byte[] CLIENT_AUTH = HEX.parseHex("06082b06010505070302");
    private static final byte[] TRUE = {1, 1, (byte) 0xff};

    private static final int UTC_TIME = 0x17;
    private static final int GENERALIZED_TIME = 0x18;
    private static final int EXTENSIONS = 0xa3;
    private static final int KEY_IDENTIFIER = 0x80;
    /** Bits of a key's usage; the first bit of a BIT STRING is the highest one. */
    private static final int SIGNATURE_BIT = 0x80;

    private static final int ENCIPHERMENT_BIT = 0x20;
    private static final int CERTIFICATES_BIT = 0x04;

    /** Copies the collections. */
    public CertificateTemplate {
        usages = Set.copyOf(usages);
        dnsNames = List.copyOf(dnsNames);
        addresses = List.copyOf(addresses);
    }

    /** A name: each of {@code organizations} as O, then {@code commonName} as CN, unless it is empty. */
    public static X500Principal name(String commonName, List<String> organizations) {
        // The text form begins with the last part.
        List<String> parts = new ArrayList<>();
        if (!commonName.isEmpty()) {
            parts.add("CN=" + Rdn.escapeValue(commonName));
        }
        organizations.reversed().forEach(organization -> parts.add("O=" + Rdn.escapeValue(organization)));
        return new X500Principal(String.join(",", parts));
    }

    /**
     * The certificate, signed by its own key.
     *
     * @throws IllegalArgumentException if {@code own}, an EC or RSA key, cannot sign
     */
    public X509Certificate signBySelf(PrivateKey own) {
        return sign(subject, Optional.empty(), own);
    }

    /**
     * The certificate, signed by an authority.
     *
     * @throws IllegalArgumentException if {@code issuerKey}, the authority's EC or RSA key, cannot sign
     */
    public X509Certificate sign(X509Certificate issuer, PrivateKey issuerKey) {
        return sign(issuer.getSubjectX500Principal(), Optional.of(identifier(issuer)), issuerKey);
    }

    private X509Certificate sign(X500Principal issuer, Optional<byte[]> issuerIdentifier, PrivateKey issuerKey) {
        boolean rsa = issuerKey.getAlgorithm().equals("RSA");
        byte[] algorithm = rsa ? RSA_SHA256 : ECDSA_SHA256;
        byte[] body = Der.of(
                Der.SEQUENCE,
                VERSION,
                Der.of(Der.INTEGER, serial.toByteArray()),
                algorithm,
                issuer.getEncoded(),
                Der.of(Der.SEQUENCE, time(notBefore), time(notAfter)),
                subject.getEncoded(),
                key.getEncoded(),
                Der.of(EXTENSIONS, Der.of(Der.SEQUENCE, extensions(issuerIdentifier))));
        try {
            Signature signature = Signature.getInstance(rsa ? "SHA256withRSA" : "SHA256withECDSA");
            signature.initSign(issuerKey);
            signature.update(body);
            byte[] whole = Der.of(Der.SEQUENCE, body, algorithm, Der.of(Der.BITS, new byte[1], signature.sign()));
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(whole));
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("cannot sign a certificate for " + subject + ": " + e.getMessage(), e);
        }
    }

    /** Times from 2050 on have four digits of the year. */
    private static byte[] time(Instant time) {
        var utc = time.atOffset(ZoneOffset.UTC);
        boolean early = utc.getYear() < 2050;
        String text = DateTimeFormatter.ofPattern(early ? "yyMMddHHmmss'Z'" : "yyyyMMddHHmmss'Z'")
                .format(utc);
        return Der.of(early ? UTC_TIME : GENERALIZED_TIME, text.getBytes(StandardCharsets.US_ASCII));
    }

    private byte[][] extensions(Optional<byte[]> issuerIdentifier) {
        List<byte[]> extensions = new ArrayList<>();
        extensions.add(extension(BASIC_CONSTRAINTS, true, Der.of(Der.SEQUENCE, authority ? TRUE : new byte[0])));
        int bits = (usages.contains(Usage.DIGITAL_SIGNATURE) ? SIGNATURE_BIT : 0)
                | (usages.contains(Usage.KEY_ENCIPHERMENT) ? ENCIPHERMENT_BIT : 0)
                | (authority ? CERTIFICATES_BIT : 0);
        if (bits != 0) {
            byte unused = (byte) Integer.numberOfTrailingZeros(bits);
            extensions.add(extension(KEY_USAGE, true, Der.of(Der.BITS, new byte[] {unused, (byte) bits})));
        }
        List<byte[]> purposes = new ArrayList<>();
        if (usages.contains(Usage.SERVER_AUTH)) {
            purposes.add(SERVER_AUTH);
        }
        if (usages.contains(Usage.CLIENT_AUTH)) {
            purposes.add(CLIENT_AUTH);
        }
        if (!purposes.isEmpty()) {
            extensions.add(extension(EXTENDED_KEY_USAGE, false, Der.of(Der.SEQUENCE, purposes.toArray(byte[][]::new))));
        }
        if (authority) {
            extensions.add(extension(SUBJECT_KEY, false, Der.of(Der.OCTETS, identifier(key))));
        }
        // Only the key's identifier: a renewed authority keeps its key, but not its serial number.
        issuerIdentifier.ifPresent(identifier -> extensions.add(
                extension(AUTHORITY_KEY, false, Der.of(Der.SEQUENCE, Der.of(KEY_IDENTIFIER, identifier)))));
        if (!dnsNames.isEmpty() || !addresses.isEmpty()) {
            // A certificate without a subject has no other names, so readers must not ignore these (RFC 5280, 4.2.1.6).
            boolean critical = subject.getName().isEmpty();
            extensions.add(extension(
                    CertificateRequest.SUBJECT_ALTERNATIVE_NAME,
                    critical,
                    CertificateRequest.alternativeNames(dnsNames, addresses)));
        }
        return extensions.toArray(byte[][]::new);
    }

    private static byte[] extension(byte[] id, boolean critical, byte[] value) {
        return Der.of(Der.SEQUENCE, id, critical ? TRUE : new byte[0], Der.of(Der.OCTETS, value));
    }

    /** The identifier of an authority's key: the one in its certificate, which others may have made in another way. */
    private static byte[] identifier(X509Certificate authority) {
        byte[] extension = authority.getExtensionValue("2.5.29.14");
        return extension == null
                ? identifier(authority.getPublicKey())
                : Der.read(Der.read(extension).contents()).contents();
    }

    /** The SHA-1 of the key's bits (RFC 5280, 4.2.1.2); a name for the key, which nothing relies on for safety. */
    private static byte[] identifier(PublicKey key) {
        try {
            return MessageDigest.getInstance("SHA-1")
                    .digest(Der.read(key.getEncoded()).child(1, Der.BITS).bits());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java lacks SHA-1", e);
        }
    }
}
