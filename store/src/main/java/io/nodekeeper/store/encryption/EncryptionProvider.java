package io.nodekeeper.store.encryption;

/** A provider of Kubernetes' EncryptionConfiguration; each {@code aesgcm} key is one. Thread-safe. */
public interface EncryptionProvider {
    /** Kubernetes' {@code identity} provider, which does not encrypt. */
    EncryptionProvider IDENTITY = new EncryptionProvider() {
        @Override
        public boolean handles(byte[] stored) {
            return !ValueTransformer.isEncrypted(stored);
        }

        @Override
        public byte[] encrypt(String storageKey, byte[] value) {
            return value;
        }

        @Override
        public byte[] decrypt(String storageKey, byte[] stored) {
            return stored;
        }

        @Override
        public String toString() {
            return "identity";
        }
    };

    /** Whether this provider wrote {@code stored}, according to the prefix. */
    boolean handles(byte[] stored);

    /** Encrypts {@code value}. */
    byte[] encrypt(String storageKey, byte[] value);

    /**
     * Decrypts {@code stored}.
     *
     * @throws EncryptionException if it cannot be decrypted
     */
    byte[] decrypt(String storageKey, byte[] stored);
}
