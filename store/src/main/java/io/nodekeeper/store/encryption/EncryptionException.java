package io.nodekeeper.store.encryption;

import io.nodekeeper.store.StoreException;
import org.jspecify.annotations.Nullable;

/** A value cannot be encrypted or decrypted. The message names the object and the key. */
public final class EncryptionException extends StoreException {

    /** {@code message} names the object and the encryption key. */
    public EncryptionException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
