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
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.List;
import org.bouncycastle.jcajce.provider.asymmetric.util.EC5Util;
import org.bouncycastle.math.ec.FixedPointCombMultiplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The key that signs service account tokens, stored in {@code DATA/pki/sa.key}.
 *
 * @param privateKey signs
 * @param publicKey the public key, computed from the private one
 */
public record ServiceAccountKeys(PrivateKey privateKey, PublicKey publicKey) {
    private static final Logger log = LoggerFactory.getLogger(ServiceAccountKeys.class);

    /** The key in the data directory; created if there is none. */
    public static ServiceAccountKeys open(Path data) throws IOException {
        Path file = OwnerOnly.directory(data.resolve("pki")).resolve("sa.key");
        if (!Files.exists(file)) {
            PrivateFiles.writeSecret(file, Pem.encode(EcKeys.newKey().getPrivate()));
            log.info("Created a key for service account tokens in {}", file);
        }
        OwnerOnly.tighten(file);
        return read("the key of service accounts' tokens", file);
    }

    /** The private key in {@code file}, which {@code what} names. */
    public static ServiceAccountKeys read(String what, Path file) throws IOException {
        try {
            PrivateKey key = Pem.privateKey(SmallFiles.text(file, StandardCharsets.US_ASCII));
            return new ServiceAccountKeys(key, publicKey(key));
        } catch (IllegalArgumentException | GeneralSecurityException e) {
            throw new IllegalArgumentException(what + " " + file + ": " + e.getMessage(), e);
        }
    }

    /** The public keys in {@code file}, including those of private keys there. */
    public static List<PublicKey> publicKeys(String what, Path file) throws IOException {
        String pem = SmallFiles.text(file, StandardCharsets.US_ASCII);
        if (pem.contains("PRIVATE KEY")) {
            return List.of(read(what, file).publicKey);
        }
        try {
            return Pem.publicKeys(pem);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(what + " " + file + ": " + e.getMessage(), e);
        }
    }

    private static PublicKey publicKey(PrivateKey key) throws GeneralSecurityException {
        return switch (key) {
            case RSAPrivateCrtKey rsa ->
                KeyFactory.getInstance("RSA")
                        .generatePublic(new RSAPublicKeySpec(rsa.getModulus(), rsa.getPublicExponent()));
            case ECPrivateKey ec -> {
                ECParameterSpec curve = ec.getParams();
                var point = new FixedPointCombMultiplier()
                        .multiply(EC5Util.convertSpec(curve).getG(), ec.getS())
                        .normalize();
                yield KeyFactory.getInstance("EC")
                        .generatePublic(new ECPublicKeySpec(
                                new ECPoint(
                                        point.getAffineXCoord().toBigInteger(),
                                        point.getAffineYCoord().toBigInteger()),
                                curve));
            }
            default ->
                throw new IllegalArgumentException("expected an RSA or EC key, found a key of " + key.getAlgorithm());
        };
    }
}
