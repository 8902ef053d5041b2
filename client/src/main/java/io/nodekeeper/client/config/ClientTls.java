package io.nodekeeper.client.config;

import io.nodekeeper.time.Clock;
import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Executor;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/** Creates TLS contexts for clients. */
public final class ClientTls {
    private ClientTls() {}

    /**
     * A context for a client that presents {@code identity}, if any, and trusts {@code authorities}; if there are none,
     * those that this machine trusts.
     * @throws IOException if the context cannot be created
     */
    public static SSLContext context(Optional<Identity> identity, List<X509Certificate> authorities)
            throws IOException {
        try {
            return context(identity, usual(authorities));
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS as a client cannot be set up: " + e.getMessage(), e);
        }
    }

    /**
     * A context for a client that presents the certificate in {@code files}, also after another one replaced it. Trusts
     * {@code authorities}; if there are none, those that this machine trusts.
     *
     * @param read what the files held a moment ago
     * @param reader reads the files again, at most once a minute
     * @throws IOException if the context cannot be created
     * @throws IllegalArgumentException if {@code read} cannot be used
     */
    public static SSLContext context(
            IdentityFiles files, Identity read, List<X509Certificate> authorities, Clock clock, Executor reader)
            throws IOException {
        try {
            SSLContext context =
                    context(new KeyManager[] {new RenewedKeys(files, read, clock, reader)}, usual(authorities));
            // A session that is resumed keeps the certificate with which it began.
            context.getClientSessionContext().setSessionTimeout(1);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS as a client cannot be set up: " + e.getMessage(), e);
        }
    }

    /**
     * A context for a client without a certificate that accepts any server, for probes only.
     *
     * @throws IOException if the context cannot be created
     */
    public static SSLContext unverified() throws IOException {
        try {
            return context(Optional.empty(), new Anything());
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS as a client cannot be set up: " + e.getMessage(), e);
        }
    }

    public static SSLContext context(ServerAccess access) {
        try {
            return context(access.identity(), trust(access));
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalArgumentException("TLS for " + access + " cannot be set up: " + e.getMessage(), e);
        }
    }

    private static SSLContext context(Optional<Identity> identity, TrustManager trust)
            throws GeneralSecurityException, IOException {
        return context(keys(identity), trust);
    }

    private static SSLContext context(KeyManager[] keys, TrustManager trust) throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys, new TrustManager[] {trust}, null);
        return context;
    }

    private static KeyManager[] keys(Optional<Identity> identity) throws GeneralSecurityException, IOException {
        if (identity.isEmpty()) {
            return new KeyManager[0];
        }
        return TlsStores.keys(identity.get().key(), identity.get().chain()).getKeyManagers();
    }

    private static X509ExtendedTrustManager trust(ServerAccess access) throws GeneralSecurityException, IOException {
        if (access.skipVerify()) {
            return new Anything();
        }
        X509ExtendedTrustManager usual = usual(access.authorities());
        return access.tlsServerName().isEmpty() ? usual : new OtherName(usual, access.tlsServerName());
    }

    private static X509ExtendedTrustManager usual(List<X509Certificate> authorities)
            throws GeneralSecurityException, IOException {
        TrustManagerFactory factory;
        if (authorities.isEmpty()) {
            factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init((KeyStore) null);
        } else {
            factory = TlsStores.trust(authorities);
        }
        for (TrustManager manager : factory.getTrustManagers()) {
            if (manager instanceof X509ExtendedTrustManager extended) {
                return extended;
            }
        }
        throw new GeneralSecurityException("this Java has no X.509 trust manager");
    }

    /** Whether {@code certificate} is valid for {@code name}, a DNS name (which {@code *.} may match) or an address. */
    static boolean bears(X509Certificate certificate, String name) throws CertificateException {
        Collection<List<?>> names = certificate.getSubjectAlternativeNames();
        if (names == null) {
            return false;
        }
        String wanted = name.toLowerCase(Locale.ROOT);
        for (List<?> entry : names) {
            // [type, value] as in RFC 5280: 2 is a DNS name, 7 an address.
            if (!(entry.get(1) instanceof String text)) {
                continue;
            }
            String has = text.toLowerCase(Locale.ROOT);
            int dot = wanted.indexOf('.');
            if (has.equals(wanted)
                    || (has.startsWith("*.") && dot > 0 && has.substring(1).equals(wanted.substring(dot)))) {
                return true;
            }
        }
        return false;
    }

    /** Accepts any certificate: insecure-skip-tls-verify. */
    private static final class Anything extends ServerTrust {
        @Override
        void check(X509Certificate[] chain, String authType) {}
    }

    /** Checks the certificate for another name than the address's: tls-server-name. */
    private static final class OtherName extends ServerTrust {
        private final X509ExtendedTrustManager usual;
        private final String name;

        OtherName(X509ExtendedTrustManager usual, String name) {
            this.usual = usual;
            this.name = name;
        }

        @Override
        void check(X509Certificate[] chain, String authType) throws CertificateException {
            usual.checkServerTrusted(chain, authType);
            if (!bears(chain[0], name)) {
                throw new CertificateException("the server's certificate is not for tls-server-name \"" + name + "\"");
            }
        }
    }

    /** Checks servers only. It is an extended manager, because Java adds its own check of the address to others. */
    private abstract static class ServerTrust extends X509ExtendedTrustManager {
        abstract void check(X509Certificate[] chain, String authType) throws CertificateException;

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            check(chain, authType);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
                throws CertificateException {
            check(chain, authType);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
                throws CertificateException {
            check(chain, authType);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            throw new CertificateException("this trust manager does not check clients");
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
                throws CertificateException {
            checkClientTrusted(chain, authType);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
                throws CertificateException {
            checkClientTrusted(chain, authType);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
