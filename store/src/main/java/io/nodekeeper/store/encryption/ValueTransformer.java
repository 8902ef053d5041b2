package io.nodekeeper.store.encryption;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Encrypts and decrypts stored values. Storage keys, revisions and the sizes of values stay visible. Implementations are
 * thread-safe.
 */
public interface ValueTransformer {
    /** Kubernetes' prefix of all encrypted values. No JSON or protobuf object begins with it. */
    String PREFIX = "k8s:enc:";

    /** Does not encrypt, and refuses to read an encrypted value, because it has no key. */
    ValueTransformer IDENTITY = new ValueTransformer() {
        @Override
        public byte[] toStorage(String key, String storageKey, byte[] value) {
            return value;
        }

        @Override
        public boolean isPlain() {
            return true;
        }

        @Override
        public byte[] fromStorage(String key, String storageKey, byte[] stored) {
            if (isEncrypted(stored)) {
                throw new EncryptionException(
                        key + " is encrypted (" + prefix(stored)
                                + "...), but no key is configured; expected --encryption-provider-config with that key",
                        null);
            }
            return stored;
        }
    };

    /** Passes stored bytes through, encrypted or not, for tools that copy objects without the keys. */
    ValueTransformer RAW = new ValueTransformer() {
        @Override
        public byte[] toStorage(String key, String storageKey, byte[] value) {
            return value;
        }

        @Override
        public boolean isPlain() {
            return true;
        }

        @Override
        public byte[] fromStorage(String key, String storageKey, byte[] stored) {
            return stored;
        }
    };

    /**
     * Encrypts {@code value}.
     *
     * @param key the object's key {@code /registry/RESOURCE/...}
     * @param storageKey the key in storage, whose prefix differs if etcd has a custom prefix; an encrypted value cannot be
     *     decrypted at another key
     */
    byte[] toStorage(String key, String storageKey, byte[] value);

    /**
     * Decrypts {@code stored}; parameters as of {@link #toStorage}.
     *
     * @throws EncryptionException if the encryption key is missing or wrong, or the value was stored for another object
     */
    byte[] fromStorage(String key, String storageKey, byte[] stored);

    /** Whether a value that does not begin with {@link #PREFIX} is stored as it is, so that nothing can be wrong with it. */
    default boolean isPlain() {
        return false;
    }

    /** Whether {@code stored} is encrypted. */
    static boolean isEncrypted(byte[] stored) {
        return isEncrypted(stored, 0, stored.length);
    }

    /** Whether the stored value in {@code bytes} between {@code from} and {@code to} is encrypted; its first bytes are enough. */
    static boolean isEncrypted(byte[] bytes, int from, int to) {
        byte[] prefix = PREFIX.getBytes(StandardCharsets.US_ASCII);
        return to - from >= prefix.length && Arrays.equals(bytes, from, from + prefix.length, prefix, 0, prefix.length);
    }

    /** The plain text prefix of an encrypted value, at most five parts: {@code k8s:enc:PROVIDER:VERSION:KEY:}. */
    static String prefix(byte[] stored) {
        int colons = 0;
        int end = 0;
        // Names of keys have at most 100 characters.
        int limit = Math.min(stored.length, 256);
        while (end < limit && colons < 5) {
            colons += stored[end++] == ':' ? 1 : 0;
        }
        return new String(stored, 0, end, StandardCharsets.UTF_8);
    }
}
