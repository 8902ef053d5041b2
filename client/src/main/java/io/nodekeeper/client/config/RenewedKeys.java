package io.nodekeeper.client.config;

import io.nodekeeper.time.Clock;
import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.concurrent.Executor;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * The client certificate in files that others replace before it expires. Each handshake uses the certificate that was read last, and
 * has the files read again if it is time. So the first handshake after a longer pause may still use the old certificate. The next one
 * uses the new one. Thread-safe.
 */
final class RenewedKeys extends X509ExtendedKeyManager {
    private final IdentitySource source;
    /**
     * A handshake that runs during a change may get the key of one certificate and the chain of the other. It fails, and the client
     * connects again.
     */
    private volatile X509ExtendedKeyManager current;

    /**
     * The keys in {@code files}, which held {@code read} a moment ago.
     *
     * @param reader reads the files
     * @throws IllegalArgumentException if {@code read} cannot be used
     */
    RenewedKeys(IdentityFiles files, Identity read, Clock clock, Executor reader) {
        this.current = manager(read);
        this.source = new IdentitySource(files, read, clock, reader, found -> current = manager(found));
    }

    private static X509ExtendedKeyManager manager(Identity identity) {
        try {
            for (KeyManager manager :
                    TlsStores.keys(identity.key(), identity.chain()).getKeyManagers()) {
                if (manager instanceof X509ExtendedKeyManager extended) {
                    return extended;
                }
            }
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalArgumentException("key and certificate cannot be used: " + e.getMessage(), e);
        }
        throw new IllegalArgumentException("this Java has no X.509 key manager");
    }

    @Override
    public @Nullable String chooseEngineClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        source.look();
        return current.chooseEngineClientAlias(keyTypes, issuers, engine);
    }

    @Override
    public @Nullable String chooseClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
        source.look();
        return current.chooseClientAlias(keyTypes, issuers, socket);
    }

    @Override
    public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return current.getClientAliases(keyType, issuers);
    }

    @Override
    public X509Certificate @Nullable [] getCertificateChain(String alias) {
        return current.getCertificateChain(alias);
    }

    @Override
    public @Nullable PrivateKey getPrivateKey(String alias) {
        return current.getPrivateKey(alias);
    }

    @Override
    public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        return null;
    }

    @Override
    public @Nullable String chooseServerAlias(String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return null;
    }
}
