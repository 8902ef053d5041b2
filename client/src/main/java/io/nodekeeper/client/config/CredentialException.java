package io.nodekeeper.client.config;

/** Thrown if a credential plugin provides no credential. The message, one line without secrets, names the plugin and why. */
public final class CredentialException extends RuntimeException {
    private static final long serialVersionUID = 1;

    CredentialException(String message) {
        super(message);
    }
}
