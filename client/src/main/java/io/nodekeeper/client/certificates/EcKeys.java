package io.nodekeeper.client.certificates;

import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;

/** Makes the keys of certificates. Thread-safe. */
public final class EcKeys {
    private EcKeys() {}

    /** A new EC key pair on P-256, as kubelets make them. */
    public static KeyPair newKey() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java lacks EC keys on P-256", e);
        }
    }
}
