package io.nodekeeper.cli.certs;

import io.nodekeeper.cli.files.PrivateFiles;
import io.nodekeeper.client.certificates.EcKeys;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.client.files.OwnerOnly;
import io.nodekeeper.client.files.SmallFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.spec.RSAPublicKeySpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The key that signs service account tokens, stored in {@code DATA/pki/sa.key}.
 *
 * @param privateKey signs
 * @param publicKey its public key: the one in the file, or computed from the private one
 */
public record ServiceAccountKeys(PrivateKey privateKey, PublicKey publicKey) {
    private static final Logger log = LoggerFactory.getLogger(ServiceAccountKeys.class);
    private static final String PUBLIC = "-----BEGIN PUBLIC KEY-----";
    private static final Pattern PRIVATE = Pattern.compile("-----BEGIN ([A-Z0-9]+ )?PRIVATE KEY-----");

    /** The key in the data directory; created if there is none. */
    public static ServiceAccountKeys open(Path data) throws IOException {
        Path file = OwnerOnly.directory(data.resolve("pki")).resolve("sa.key");
        if (!Files.exists(file)) {
            KeyPair key = EcKeys.newKey();
            PrivateFiles.writeSecret(file, Pem.encode(key.getPrivate(), key.getPublic()));
            log.info("Created a key for service account tokens in {}", file);
        }
        OwnerOnly.tighten(file);
        return read("the key of service accounts' tokens", file);
    }

    /** The private key in {@code file}, which {@code what} names. */
    public static ServiceAccountKeys read(String what, Path file) throws IOException {
        String pem = SmallFiles.text(file, StandardCharsets.US_ASCII);
        try {
            return first(pem);
        } catch (IllegalArgumentException | GeneralSecurityException e) {
            throw new IllegalArgumentException(what + " " + file + ": " + e.getMessage(), e);
        }
    }

    private static ServiceAccountKeys first(String pem) throws GeneralSecurityException {
        PrivateKey key = Pem.privateKey(pem);
        return new ServiceAccountKeys(key, publicKey(key, Pem.publicPart(pem)));
    }

    /** All public keys in {@code file}, including those of private keys there. */
    public static List<PublicKey> publicKeys(String what, Path file) throws IOException {
        String pem = SmallFiles.text(file, StandardCharsets.US_ASCII);
        try {
            List<PublicKey> keys = new ArrayList<>();
            for (String block : pem.split("(?=-----BEGIN )", -1)) {
                if (PRIVATE.matcher(block).lookingAt()) {
                    keys.add(first(block).publicKey);
                } else if (block.startsWith(PUBLIC)) {
                    keys.addAll(Pem.publicKeys(block));
                }
            }
            // Without any, the error says what the file has instead.
            return keys.isEmpty() ? Pem.publicKeys(pem) : List.copyOf(keys);
        } catch (IllegalArgumentException | GeneralSecurityException e) {
            throw new IllegalArgumentException(what + " " + file + ": " + e.getMessage(), e);
        }
    }

    /** Whether {@code publicKey} verifies what {@code key} signs. */
    private static boolean belongs(PublicKey publicKey, PrivateKey key) throws GeneralSecurityException {
        byte[] text = {1};
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(key);
        signature.update(text);
        byte[] signed = signature.sign();
        signature.initVerify(publicKey);
        signature.update(text);
        return signature.verify(signed);
    }

    private static PublicKey publicKey(PrivateKey key, Optional<PublicKey> beside) throws GeneralSecurityException {
        return switch (key) {
            case RSAPrivateCrtKey rsa ->
                KeyFactory.getInstance("RSA")
                        .generatePublic(new RSAPublicKeySpec(rsa.getModulus(), rsa.getPublicExponent()));
            case ECPrivateKey ec -> {
                List<PublicKey> candidates = beside.isPresent() ? List.of(beside.get()) : EcPoints.candidates(ec);
                for (PublicKey candidate : candidates) {
                    if (belongs(candidate, key)) {
                        yield candidate;
                    }
                }
                throw new IllegalArgumentException("the public key in the block does not belong to the private key");
            }
            default ->
                throw new IllegalArgumentException("expected an RSA or EC key, found a key of " + key.getAlgorithm());
        };
    }
}
