package io.nodekeeper.client.config;

import io.nodekeeper.client.files.SmallFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.util.List;

/**
 * The two PEM files that hold an identity.
 *
 * @param certificate its certificate, followed by intermediate certificates
 * @param key the private key
 */
public record IdentityFiles(Path certificate, Path key) {
    /** Reads both files, which these flags name. */
    public Identity read(String certificateFlag, String keyFlag) throws IOException {
        try {
            return read();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    certificateFlag + " " + certificate + ", " + keyFlag + " " + key + ": " + e.getMessage(), e);
        }
    }

    /**
     * The certificates in {@code file}, which {@code flag} names.
     *
     * @throws IOException if it cannot be read
     * @throws IllegalArgumentException if there are none
     */
    public static List<X509Certificate> authorities(String flag, Path file) throws IOException {
        try {
            return Pem.certificates(pem(file));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(flag + " " + file + ": " + e.getMessage(), e);
        }
    }

    /**
     * Reads both files.
     *
     * @throws IOException if one cannot be read
     * @throws IllegalArgumentException if they do not hold a certificate and its key
     */
    public Identity read() throws IOException {
        Identity identity = new Identity(Pem.privateKey(pem(key)), Pem.certificates(pem(certificate)));
        if (!matches(identity)) {
            throw new IllegalArgumentException("the private key does not belong to the certificate " + identity);
        }
        return identity;
    }

    /** PEM is ASCII, but the text around its blocks may be in any character set. */
    private static String pem(Path file) throws IOException {
        return SmallFiles.text(file, StandardCharsets.ISO_8859_1);
    }

    /** Whether key and certificate match. TLS would fail only when a client connects. */
    private static boolean matches(Identity identity) {
        try {
            Signature signature = Signature.getInstance(
                    switch (identity.key().getAlgorithm()) {
                        case "EC" -> "SHA256withECDSA";
                        case "RSA" -> "SHA256withRSA";
                        default -> identity.key().getAlgorithm();
                    });
            signature.initSign(identity.key());
            byte[] signed = signature.sign();
            signature.initVerify(identity.certificate().getPublicKey());
            return signature.verify(signed);
        } catch (GeneralSecurityException e) {
            // The key has another algorithm than the certificate.
            return false;
        }
    }
}
