package io.nodekeeper.store.encryption;

/** One way to store values, as a key of Kubernetes' {@code aesgcm} provider is. Thread-safe. */
public interface EncryptionProvider {
    /** Kubernetes' {@code identity} provider: values as they are. */
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

    /** Whether {@code stored} was written by this provider, judged by its prefix. */
    boolean handles(byte[] stored);

    /** The stored form of {@code value}. */
    byte[] encrypt(String storageKey, byte[] value);

    /**
     * The value of which {@code stored} is the stored form.
     *
     * @throws EncryptionException if it cannot be decrypted
     */
    byte[] decrypt(String storageKey, byte[] stored);
}
