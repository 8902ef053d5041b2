package io.nodekeeper.cli.certs;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.ECFieldFp;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.util.List;
import javax.crypto.KeyAgreement;

/**
 * Computes public EC keys with what Java offers. The public key is the point Q = dG for the private number d and the generator G of
 * the curve. Java multiplies points only to agree on keys: with G as the other side's key, the secret is the x coordinate
 * of Q. The equation y² = x³ + ax + b gives the two points with it, Q and -Q; a signature shows which one is Q.
 */
final class EcPoints {
    private EcPoints() {}

    /** The two points of which one is the public key of {@code key}, which is on a curve of TLS: P-256, P-384 or P-521. */
    static List<PublicKey> candidates(ECPrivateKey key) throws GeneralSecurityException {
        ECParameterSpec curve = key.getParams();
        KeyAgreement agreement = KeyAgreement.getInstance("ECDH");
        agreement.init(key);
        agreement.doPhase(point(curve.getGenerator(), curve), true);
        BigInteger x = new BigInteger(1, agreement.generateSecret());
        BigInteger p = ((ECFieldFp) curve.getCurve().getField()).getP();
        BigInteger square = x.pow(3)
                .add(curve.getCurve().getA().multiply(x))
                .add(curve.getCurve().getB())
                .mod(p);
        // A root modulo p, because p is 3 modulo 4 for all three curves.
        BigInteger y = square.modPow(p.add(BigInteger.ONE).shiftRight(2), p);
        return List.of(point(new ECPoint(x, y), curve), point(new ECPoint(x, p.subtract(y)), curve));
    }

    private static PublicKey point(ECPoint point, ECParameterSpec curve) throws GeneralSecurityException {
        return KeyFactory.getInstance("EC").generatePublic(new ECPublicKeySpec(point, curve));
    }
}
