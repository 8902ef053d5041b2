package io.nodekeeper.store.encryption;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.random.RandomGenerator;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * A key of Kubernetes' {@code aesgcm} provider. A stored value is {@code k8s:enc:aesgcm:v1:NAME:}, a random nonce of 12
 * bytes, the encrypted value and a tag of 16 bytes. The tag also authenticates the storage key. Thread-safe.
 *
 * <p>With random nonces of 96 bits, a key is safe for some 4 billion writes (NIST SP 800-38D). Kubernetes recommends a new
 * key after 200,000.
 */
public final class AesGcmKey implements EncryptionProvider {
    private static final int NONCE = 12;
    private static final int TAG = 16;

    private final String name;
    private final byte[] prefix;
    private final SecretKeySpec key;
    private final RandomGenerator random;

    /**
     * A key.
     *
     * @param name its name, without a colon
     * @param secret 16, 24 or 32 bytes
     * @param random creates nonces; must be cryptographically strong and thread-safe
     */
    public AesGcmKey(String name, byte[] secret, RandomGenerator random) {
        this.name = name;
        this.prefix = (ValueTransformer.PREFIX + "aesgcm:v1:" + name + ":").getBytes(StandardCharsets.UTF_8);
        this.key = new SecretKeySpec(secret, "AES");
        this.random = random;
    }

    @Override
    public boolean handles(byte[] stored) {
        return stored.length >= prefix.length && Arrays.equals(stored, 0, prefix.length, prefix, 0, prefix.length);
    }

    @Override
    public byte[] encrypt(String storageKey, byte[] value) {
        try {
            byte[] nonce = new byte[NONCE];
            random.nextBytes(nonce);
            Cipher cipher = cipher(Cipher.ENCRYPT_MODE, nonce, 0, storageKey);
            byte[] stored = Arrays.copyOf(prefix, prefix.length + NONCE + value.length + TAG);
            System.arraycopy(nonce, 0, stored, prefix.length, NONCE);
            cipher.doFinal(value, 0, value.length, stored, prefix.length + NONCE);
            return stored;
        } catch (GeneralSecurityException e) {
            throw new EncryptionException(storageKey + " cannot be encrypted with key " + name + ": " + e, e);
        }
    }

    @Override
    public byte[] decrypt(String storageKey, byte[] stored) {
        int start = prefix.length + NONCE;
        if (stored.length < start + TAG) {
            throw new EncryptionException(
                    storageKey + " is truncated: it has " + stored.length + " bytes; expected " + (start + TAG)
                            + " or more",
                    null);
        }
        try {
            return cipher(Cipher.DECRYPT_MODE, stored, prefix.length, storageKey)
                    .doFinal(stored, start, stored.length - start);
        } catch (GeneralSecurityException e) {
            throw new EncryptionException(
                    storageKey + " cannot be decrypted with key " + name
                            + ": this name now has another key, or the value was changed or was stored for another"
                            + " object",
                    e);
        }
    }

    private Cipher cipher(int mode, byte[] nonce, int at, String storageKey) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key, new GCMParameterSpec(TAG * Byte.SIZE, nonce, at, NONCE));
        cipher.updateAAD(storageKey.getBytes(StandardCharsets.UTF_8));
        return cipher;
    }

    @Override
    public String toString() {
        return "aesgcm key " + name;
    }
}
