package io.nodekeeper.cli;

import io.nodekeeper.client.Identity;
import io.nodekeeper.client.Pem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Signature;

/**
 * The two PEM files that hold an identity.
 *
 * @param certificate its certificate, then those that lead to the authority
 * @param key the private key
 */
record IdentityFiles(Path certificate, Path key) {
    /**
     * Reads both.
     *
     * @throws IOException if one cannot be read
     * @throws IllegalArgumentException if they do not hold a certificate and its key
     */
    Identity read() throws IOException {
        Identity identity =
                new Identity(Pem.privateKey(Files.readString(key)), Pem.certificates(Files.readString(certificate)));
        if (!matches(identity)) {
            throw new IllegalArgumentException("the private key is not the one of the certificate " + identity);
        }
        return identity;
    }

    /** TLS itself would notice only when a client connects. */
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
            // A key of another kind than the certificate's cannot even be tried.
            return false;
        }
    }
}
