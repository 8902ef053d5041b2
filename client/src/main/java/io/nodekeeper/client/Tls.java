package io.nodekeeper.client;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/** Turns a {@link ServerAccess} into a TLS context. */
final class Tls {
    private static final char[] NO_PASSWORD = {};

    private Tls() {}

    static SSLContext context(ServerAccess access) {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys(access.identity()), new TrustManager[] {trust(access)}, null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalArgumentException("TLS for " + access + " cannot be set up: " + e.getMessage(), e);
        }
    }

    private static KeyManager[] keys(Optional<Identity> identity) throws GeneralSecurityException, IOException {
        if (identity.isEmpty()) {
            return new KeyManager[0];
        }
        KeyStore store = empty();
        store.setKeyEntry(
                "client",
                identity.get().key(),
                NO_PASSWORD,
                identity.get().chain().toArray(Certificate[]::new));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, NO_PASSWORD);
        return factory.getKeyManagers();
    }

    private static X509ExtendedTrustManager trust(ServerAccess access) throws GeneralSecurityException, IOException {
        if (access.skipVerify()) {
            return new Anything();
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        if (access.authorities().isEmpty()) {
            factory.init((KeyStore) null);
        } else {
            KeyStore store = empty();
            int count = 0;
            for (X509Certificate authority : access.authorities()) {
                store.setCertificateEntry("ca-" + count++, authority);
            }
            factory.init(store);
        }
        for (TrustManager manager : factory.getTrustManagers()) {
            if (manager instanceof X509ExtendedTrustManager extended) {
                return access.tlsServerName().isEmpty() ? extended : new OtherName(extended, access.tlsServerName());
            }
        }
        throw new GeneralSecurityException("this Java has no X.509 trust manager");
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    /** Whether {@code certificate} is for {@code name}, a DNS name (which {@code *.} may stand for) or an address. */
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

    /** What a kubeconfig asks for with insecure-skip-tls-verify. */
    private static final class Anything extends ServerTrust {
        @Override
        void check(X509Certificate[] chain, String authType) {}
    }

    /** The usual check, but of another name than the address's: tls-server-name. */
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

    /** Judges servers only. An extended manager, since Java adds its own check of the address to others. */
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
            throw new CertificateException("clients are not judged here");
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
