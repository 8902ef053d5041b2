package io.nodekeeper.client.certificates;

import io.nodekeeper.client.config.Pem;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import javax.naming.ldap.Rdn;
import javax.security.auth.x500.X500Principal;

/**
 * A request for a certificate (PKCS#10, RFC 2986), signed with the key that it is for. Immutable.
 *
 * @param commonName CN of the subject; may be empty
 * @param organizations each O of the subject
 * @param dnsNames DNS names for which the certificate shall be valid
 * @param addresses IP addresses for which it shall be valid
 * @param others whether it names other things, such as mail addresses
 * @param key the public key
 */
public record CertificateRequest(
        String commonName,
        List<String> organizations,
        List<String> dnsNames,
        List<InetAddress> addresses,
        boolean others,
        PublicKey key) {
    /** Bytes at most: an RSA key of 16,384 bits and a hundred names have less. */
    public static final int LIMIT = 64 << 10;

    /** Go's limit. The time of a check grows with the length of the exponent, which is at most that of the key. */
    private static final int EXPONENT_BITS = 31;

    private static final String LABEL = "CERTIFICATE REQUEST";
    private static final byte[] VERSION = {2, 1, 0};
    private static final byte[] EXTENSION_REQUEST = HexFormat.of().parseHex("06092a864886f70d01090e");
    static final byte[] SUBJECT_ALTERNATIVE_NAME = HexFormat.of().parseHex("0603551d11");
    private static final byte[] ECDSA_SHA256 = HexFormat.of().parseHex("06082a8648ce3d040302");
    /** [0] { attributes } */
    private static final int ATTRIBUTES = 0xa0;

    private static final int DNS_NAME = 0x82;
    private static final int ADDRESS = 0x87;

    /** Object identifiers of signatures (RFC 5758, 8017, 8410) → Java's names. Older hashes are refused, as Go does. */
    private static final Map<String, String> SIGNATURES = Map.of(
            "2a8648ce3d040302", "SHA256withECDSA",
            "2a8648ce3d040303", "SHA384withECDSA",
            "2a8648ce3d040304", "SHA512withECDSA",
            "2a864886f70d01010b", "SHA256withRSA",
            "2a864886f70d01010c", "SHA384withRSA",
            "2a864886f70d01010d", "SHA512withRSA",
            "2b6570", "Ed25519");

    private static final List<String> KEYS = List.of("EC", "RSA", "EdDSA");

    /** Copies the lists. */
    public CertificateRequest {
        organizations = List.copyOf(organizations);
        dnsNames = List.copyOf(dnsNames);
        addresses = List.copyOf(addresses);
    }

    /** A request in PEM for {@code pair}, an EC key. */
    public static String sign(
            KeyPair pair, String commonName, String organization, List<String> dnsNames, List<InetAddress> addresses) {
        X500Principal subject =
                new X500Principal("CN=" + Rdn.escapeValue(commonName) + ", O=" + Rdn.escapeValue(organization));
        return sign(pair, subject, dnsNames, addresses);
    }

    /** The same for any {@code subject}. */
    public static String sign(KeyPair pair, X500Principal subject, List<String> dnsNames, List<InetAddress> addresses) {
        try {
            byte[] info = Der.of(
                    Der.SEQUENCE,
                    VERSION,
                    subject.getEncoded(),
                    pair.getPublic().getEncoded(),
                    Der.of(ATTRIBUTES, names(dnsNames, addresses)));
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign(pair.getPrivate());
            signature.update(info);
            byte[] signed = signature.sign();
            return Pem.encode(
                    LABEL,
                    Der.of(
                            Der.SEQUENCE,
                            info,
                            Der.of(Der.SEQUENCE, ECDSA_SHA256),
                            Der.of(Der.BITS, new byte[1], signed)));
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("the key cannot sign a request: " + e.getMessage(), e);
        }
    }

    /** The attribute with the names; empty without a name. */
    private static byte[] names(List<String> dnsNames, List<InetAddress> addresses) {
        if (dnsNames.isEmpty() && addresses.isEmpty()) {
            return new byte[0];
        }
        byte[] extension = Der.of(
                Der.SEQUENCE, SUBJECT_ALTERNATIVE_NAME, Der.of(Der.OCTETS, alternativeNames(dnsNames, addresses)));
        return Der.of(Der.SEQUENCE, EXTENSION_REQUEST, Der.of(Der.SET, Der.of(Der.SEQUENCE, extension)));
    }

    /** The value of the extension {@link #SUBJECT_ALTERNATIVE_NAME}, in requests and certificates. */
    static byte[] alternativeNames(List<String> dnsNames, List<InetAddress> addresses) {
        List<byte[]> names = new ArrayList<>();
        dnsNames.forEach(name -> names.add(Der.of(DNS_NAME, name.getBytes(StandardCharsets.US_ASCII))));
        addresses.forEach(address -> names.add(Der.of(ADDRESS, address.getAddress())));
        return Der.of(Der.SEQUENCE, names.toArray(byte[][]::new));
    }

    /**
     * Reads a request and checks its signature.
     *
     * @throws IllegalArgumentException if it is no such request; the message says why
     */
    public static CertificateRequest parse(String pem) {
        Der request = der(pem);
        CertificateRequest read = read(request);
        verify(
                read.key,
                request.child(0, Der.SEQUENCE).whole(),
                request.child(1, Der.SEQUENCE).child(0, Der.OBJECT_ID),
                request.child(2, Der.BITS));
        return read;
    }

    /**
     * Reads a request whose signature is checked elsewhere, which takes much longer than reading it.
     *
     * @throws IllegalArgumentException if it is no such request; the message says why
     */
    public static CertificateRequest parseUnchecked(String pem) {
        return read(der(pem));
    }

    private static Der der(String pem) {
        if (pem.length() > LIMIT) {
            throw new IllegalArgumentException("the request has more than " + LIMIT + " characters");
        }
        return Der.read(Pem.block(LABEL, pem));
    }

    private static CertificateRequest read(Der request) {
        Der info = request.child(0, Der.SEQUENCE);
        PublicKey key = key(info.child(2, Der.SEQUENCE).whole());
        Subject subject =
                Subject.of(new X500Principal(info.child(1, Der.SEQUENCE).whole()));
        Names names = Names.of(info.children());
        return new CertificateRequest(
                subject.commonName(), subject.organizations(), names.dns, names.addresses, names.others, key);
    }

    private static PublicKey key(byte[] encoded) {
        for (String algorithm : KEYS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePublic(new X509EncodedKeySpec(encoded));
            } catch (GeneralSecurityException e) {
                // A key of another algorithm: if no factory accepts it, the error below says so.
            }
        }
        throw new IllegalArgumentException("the public key is broken, or not of one of the kinds " + KEYS);
    }

    private static void verify(PublicKey key, byte[] info, Der algorithm, Der signed) {
        String id = HexFormat.of().formatHex(algorithm.contents());
        String name = SIGNATURES.get(id);
        if (name == null) {
            throw new IllegalArgumentException("the request has a signature of an unsupported algorithm");
        }
        if (key instanceof RSAPublicKey rsa && rsa.getPublicExponent().bitLength() > EXPONENT_BITS) {
            throw new IllegalArgumentException(
                    "the public exponent of the RSA key has more than " + EXPONENT_BITS + " bits");
        }
        try {
            Signature signature = Signature.getInstance(name);
            signature.initVerify(key);
            signature.update(info);
            if (!signature.verify(signed.bits())) {
                throw new IllegalArgumentException("the signature of the request is wrong");
            }
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("the signature of the request is wrong: " + e.getMessage(), e);
        }
    }

    /** The alternative names in a request. */
    private static final class Names {
        private final List<String> dns = new ArrayList<>();
        private final List<InetAddress> addresses = new ArrayList<>();
        private boolean others;

        static Names of(List<Der> info) {
            Names names = new Names();
            if (info.size() > 3 && info.get(3).tag() == ATTRIBUTES) {
                info.get(3).children().stream()
                        .filter(attribute -> is(attribute, EXTENSION_REQUEST))
                        .flatMap(attribute -> attribute.child(1, Der.SET).child(0, Der.SEQUENCE).children().stream())
                        .filter(extension -> is(extension, SUBJECT_ALTERNATIVE_NAME))
                        .forEach(names::take);
            }
            return names;
        }

        private static boolean is(Der element, byte[] id) {
            return Arrays.equals(element.child(0, Der.OBJECT_ID).whole(), id);
        }

        /** SEQUENCE { id, critical (optional), OCTET STRING { SEQUENCE { name, … } } } */
        private void take(Der extension) {
            Der value = extension.children().getLast();
            for (Der name : Der.read(value.contents()).children()) {
                switch (name.tag()) {
                    case DNS_NAME -> dns.add(new String(name.contents(), StandardCharsets.US_ASCII));
                    case ADDRESS -> addresses.add(address(name.contents()));
                    default -> others = true;
                }
            }
        }

        private static InetAddress address(byte[] bytes) {
            try {
                return InetAddress.getByAddress(bytes);
            } catch (UnknownHostException e) {
                throw new IllegalArgumentException("an IP address in the request has " + bytes.length + " bytes", e);
            }
        }
    }
}
