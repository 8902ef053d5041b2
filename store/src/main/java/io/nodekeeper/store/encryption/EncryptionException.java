package io.nodekeeper.store.encryption;

import io.nodekeeper.store.StoreException;
import org.jspecify.annotations.Nullable;

/** A value that cannot be decrypted, or encrypted. The message names the object and the key. */
public final class EncryptionException extends StoreException {

    /** {@code message} names the object, and the key that was used or is missing. */
    public EncryptionException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
