package io.nodekeeper.client.config;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.cert.CertificateEncodingException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads and writes certificates and keys in PEM (RFC 7468). Private keys may be PKCS#8, SEC 1 ({@code EC PRIVATE KEY})
 * or PKCS#1 ({@code RSA PRIVATE KEY}), unencrypted. Every failure is an IllegalArgumentException that says what was
 * expected.
 */
public final class Pem {
    private static final Pattern BLOCK =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\\s]+)-----END \\1-----");
    private static final int SEQUENCE = 0x30;
    private static final int OCTET_STRING = 0x04;
    /** The tag of the curve in SEC 1. */
    private static final int CURVE = 0xa0;
    /** The tag of the public key in SEC 1. */
    private static final int PUBLIC_KEY = 0xa1;
    /** The version of PKCS#8: INTEGER 0. */
    private static final byte[] VERSION_0 = {2, 1, 0};
    /** rsaEncryption with its NULL parameters (RFC 8017). */
    private static final byte[] RSA_ALGORITHM = {
        0x30, 0x0d, 0x06, 0x09, 0x2a, (byte) 0x86, 0x48, (byte) 0x86, (byte) 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00
    };
    /** The object identifier id-ecPublicKey (RFC 5480). */
    private static final byte[] EC_PUBLIC_KEY = {0x06, 0x07, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 0x02, 0x01};
    /** The algorithms of TLS keys. A PKCS#8 key names its algorithm, and the factories of others refuse it. */
    private static final List<String> ALGORITHMS = List.of("EC", "RSA", "EdDSA");

    private Pem() {}

    private record Block(String label, byte[] der) {}

    /** The certificates in {@code pem}, in their order, at least one. */
    public static List<X509Certificate> certificates(String pem) {
        List<X509Certificate> certificates = new ArrayList<>();
        for (Block block : blocks(pem)) {
            if (block.label.equals("CERTIFICATE")) {
                try {
                    certificates.add((X509Certificate) CertificateFactory.getInstance("X.509")
                            .generateCertificate(new ByteArrayInputStream(block.der)));
                } catch (CertificateException e) {
                    throw new IllegalArgumentException("unreadable X.509 certificate: " + e.getMessage(), e);
                }
            }
        }
        if (certificates.isEmpty()) {
            throw new IllegalArgumentException("expected a PEM block \"CERTIFICATE\", found " + labels(pem));
        }
        return certificates;
    }

    /** The first private key in {@code pem}. */
    public static PrivateKey privateKey(String pem) {
        for (Block block : blocks(pem)) {
            switch (block.label) {
                case "PRIVATE KEY" -> {
                    return fromPkcs8(block.der);
                }
                case "RSA PRIVATE KEY" -> {
                    return fromPkcs8(pkcs8(RSA_ALGORITHM, block.der));
                }
                case "EC PRIVATE KEY" -> {
                    return fromPkcs8(pkcs8(tagged(SEQUENCE, EC_PUBLIC_KEY, curve(block.der)), block.der));
                }
                case "ENCRYPTED PRIVATE KEY" ->
                    throw new IllegalArgumentException("the private key is encrypted; expected one without password");
                default -> {}
            }
        }
        throw new IllegalArgumentException(
                "expected a PEM block \"PRIVATE KEY\", \"EC PRIVATE KEY\" or \"RSA PRIVATE KEY\", found "
                        + labels(pem));
    }

    /**
     * The public key that the first private key in {@code pem} carries: SEC 1 may contain it. Whether both belong together is not
     * checked.
     */
    public static Optional<PublicKey> publicPart(String pem) {
        Optional<Block> first = blocks(pem).stream()
                .filter(block -> block.label.endsWith("PRIVATE KEY"))
                .findFirst()
                .filter(block -> block.label.equals("EC PRIVATE KEY"));
        if (first.isEmpty()) {
            return Optional.empty();
        }
        byte[] sec1 = first.get().der;
        return element(sec1, PUBLIC_KEY)
                .map(point -> tagged(SEQUENCE, tagged(SEQUENCE, EC_PUBLIC_KEY, curve(sec1)), point))
                .map(der -> key("public", factory -> factory.generatePublic(new X509EncodedKeySpec(der))));
    }

    /** The public keys in {@code pem}, in their order, at least one. */
    public static List<PublicKey> publicKeys(String pem) {
        List<PublicKey> keys = new ArrayList<>();
        for (Block block : blocks(pem)) {
            if (block.label.equals("PUBLIC KEY")) {
                keys.add(key("public", factory -> factory.generatePublic(new X509EncodedKeySpec(block.der))));
            }
        }
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("expected a PEM block \"PUBLIC KEY\", found " + labels(pem));
        }
        return keys;
    }

    /** A certificate as PEM. */
    public static String encode(X509Certificate certificate) {
        try {
            return encode("CERTIFICATE", certificate.getEncoded());
        } catch (CertificateEncodingException e) {
            throw new IllegalArgumentException("certificate without encoding: " + e.getMessage(), e);
        }
    }

    /** A private key as PEM, PKCS#8. */
    public static String encode(PrivateKey key) {
        return encode("PRIVATE KEY", key.getEncoded());
    }

    /**
     * A private key as PEM, in the form that the client libraries of Kubernetes read: SEC 1 with curve and public key
     * for an EC key, PKCS#8 for others.
     */
    public static String encode(PrivateKey key, PublicKey publicKey) {
        return key.getAlgorithm().equals("EC")
                ? encode("EC PRIVATE KEY", sec1(key.getEncoded(), publicKey.getEncoded()))
                : encode(key);
    }

    /**
     * The SEC 1 form of an EC key.
     *
     * @param pkcs8 SEQUENCE { version, { id-ecPublicKey, curve }, OCTET STRING { SEQUENCE { version, secret, … } } }
     * @param publicKey SEQUENCE { algorithm, BIT STRING }
     */
    private static byte[] sec1(byte[] pkcs8, byte[] publicKey) {
        int algorithm = end(pkcs8, contents(pkcs8, 0));
        int curve = end(pkcs8, contents(pkcs8, algorithm));
        int key = contents(pkcs8, end(pkcs8, algorithm));
        int version = contents(pkcs8, key);
        int secret = end(pkcs8, end(pkcs8, version));
        int point = end(publicKey, contents(publicKey, 0));
        return tagged(
                SEQUENCE,
                Arrays.copyOfRange(pkcs8, version, secret),
                tagged(CURVE, Arrays.copyOfRange(pkcs8, curve, end(pkcs8, curve))),
                tagged(PUBLIC_KEY, Arrays.copyOfRange(publicKey, point, end(publicKey, point))));
    }

    /** The bytes of the first block with {@code label}. */
    public static byte[] block(String label, String pem) {
        return blocks(pem).stream()
                .filter(block -> block.label.equals(label))
                .findFirst()
                .map(Block::der)
                .orElseThrow(() ->
                        new IllegalArgumentException("expected a PEM block \"" + label + "\", found " + labels(pem)));
    }

    /** A block of PEM. */
    public static String encode(String label, byte[] der) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        return "-----BEGIN " + label + "-----\n" + text + "\n-----END " + label + "-----\n";
    }

    private static List<Block> blocks(String pem) {
        List<Block> blocks = new ArrayList<>();
        Matcher matcher = BLOCK.matcher(pem);
        while (matcher.find()) {
            String body = matcher.group(2).replaceAll("\\s", "");
            try {
                blocks.add(new Block(
                        matcher.group(1), Base64.getDecoder().decode(body.getBytes(StandardCharsets.US_ASCII))));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "the PEM block \"" + matcher.group(1) + "\" is not base64: " + e.getMessage(), e);
            }
        }
        return blocks;
    }

    private static String labels(String pem) {
        List<String> labels =
                blocks(pem).stream().map(block -> "\"" + block.label + "\"").toList();
        return labels.isEmpty() ? "no PEM block" : String.join(", ", labels);
    }

    private static PrivateKey fromPkcs8(byte[] der) {
        return key("private", factory -> factory.generatePrivate(new PKCS8EncodedKeySpec(der)));
    }

    private interface KeyReader<K> {
        K read(KeyFactory factory) throws InvalidKeySpecException;
    }

    private static <K> K key(String which, KeyReader<K> reader) {
        for (String algorithm : ALGORITHMS) {
            try {
                return reader.read(KeyFactory.getInstance(algorithm));
            } catch (InvalidKeySpecException e) {
                // Another algorithm, or a broken key: if no factory accepts it, the error below says so.
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("this Java lacks " + algorithm + " keys", e);
            }
        }
        throw new IllegalArgumentException("the " + which + " key is broken, or not of one of the kinds " + ALGORITHMS);
    }

    private static byte[] pkcs8(byte[] algorithm, byte[] key) {
        return tagged(SEQUENCE, VERSION_0, algorithm, tagged(OCTET_STRING, key));
    }

    private static byte[] curve(byte[] sec1) {
        return element(sec1, CURVE)
                .orElseThrow(() -> new IllegalArgumentException("the EC private key does not name its curve"));
    }

    /** What {@code tag} holds in a SEC 1 key: SEQUENCE { version, OCTET STRING, [0] { curve }, [1] { public key } } (RFC 5915). */
    private static Optional<byte[]> element(byte[] sec1, int tag) {
        try {
            int at = contents(sec1, 0);
            at = end(sec1, at);
            at = end(sec1, at);
            while (at < sec1.length && (sec1[at] & 0xff) != tag) {
                at = end(sec1, at);
            }
            if (at == sec1.length) {
                return Optional.empty();
            }
            int inner = contents(sec1, at);
            return Optional.of(Arrays.copyOfRange(sec1, inner, end(sec1, inner)));
        } catch (IndexOutOfBoundsException e) {
            throw new IllegalArgumentException("the EC private key is truncated", e);
        }
    }

    /** Where the contents of the element at {@code at} start. */
    private static int contents(byte[] der, int at) {
        int length = der[at + 1] & 0xff;
        return at + 2 + (length < 0x80 ? 0 : length & 0x7f);
    }

    /**
     * Where the element at {@code at} ends, at most the end of {@code der}: its length is input, and copying a claimed
     * 2 GiB would end the process.
     */
    private static int end(byte[] der, int at) {
        int start = contents(der, at);
        int length = der[at + 1] & 0xff;
        if (length >= 0x80) {
            length = 0;
            for (int i = at + 2; i < start; i++) {
                length = length << 8 | der[i] & 0xff;
            }
        }
        return Objects.checkFromIndexSize(start, length, der.length) + length;
    }

    private static byte[] tagged(int tag, byte[]... parts) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            body.writeBytes(part);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        int length = body.size();
        if (length < 0x80) {
            out.write(length);
        } else if (length < 0x100) {
            out.write(0x81);
            out.write(length);
        } else {
            out.write(0x82);
            out.write(length >> 8);
            out.write(length);
        }
        out.writeBytes(body.toByteArray());
        return out.toByteArray();
    }
}
