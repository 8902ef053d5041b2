package io.nodekeeper.store.encryption;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Converts values between the form that the server uses and the form that is stored. Stored keys, revisions and the sizes of
 * values stay visible. Implementations are thread-safe.
 */
public interface ValueTransformer {
    /** Every encrypted value begins with this text, in Kubernetes as here. No JSON or protobuf object does. */
    String PREFIX = "k8s:enc:";

    /** Stores values as they are, and refuses to read an encrypted one: there is no key for it. */
    ValueTransformer IDENTITY = new ValueTransformer() {
        @Override
        public byte[] toStorage(String key, String storageKey, byte[] value) {
            return value;
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

    /** Takes the stored bytes as they are, encrypted or not: for tools that copy objects without their keys. */
    ValueTransformer RAW = new ValueTransformer() {
        @Override
        public byte[] toStorage(String key, String storageKey, byte[] value) {
            return value;
        }

        @Override
        public byte[] fromStorage(String key, String storageKey, byte[] stored) {
            return stored;
        }
    };

    /**
     * The stored form of {@code value}.
     *
     * @param key the object's key, as {@code /registry/RESOURCE/...}
     * @param storageKey its key where it is stored, which has another prefix if etcd is used with one; an encrypted value cannot
     *     be read at any other key
     */
    byte[] toStorage(String key, String storageKey, byte[] value);

    /**
     * The value of which {@code stored} is the stored form; parameters as of {@link #toStorage}.
     *
     * @throws EncryptionException if the encryption key is missing or wrong, or if it was stored for another object
     */
    byte[] fromStorage(String key, String storageKey, byte[] stored);

    /** Whether {@code stored} is in an encrypted form. */
    static boolean isEncrypted(byte[] stored) {
        byte[] prefix = PREFIX.getBytes(StandardCharsets.US_ASCII);
        return stored.length >= prefix.length && Arrays.equals(stored, 0, prefix.length, prefix, 0, prefix.length);
    }

    /** The readable beginning of an encrypted value, at most five parts: {@code k8s:enc:PROVIDER:VERSION:KEY:}. */
    static String prefix(byte[] stored) {
        int colons = 0;
        int end = 0;
        // A name longer than this is no key's name that could have been configured here.
        int limit = Math.min(stored.length, 256);
        while (end < limit && colons < 5) {
            colons += stored[end++] == ':' ? 1 : 0;
        }
        return new String(stored, 0, end, StandardCharsets.UTF_8);
    }
}
