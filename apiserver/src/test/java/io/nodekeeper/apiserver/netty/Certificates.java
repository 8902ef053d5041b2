package io.nodekeeper.apiserver.netty;

import io.nodekeeper.client.TestCertificates;
import io.nodekeeper.client.config.Identity;
import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.X509ExtendedKeyManager;

/** The certificates of the tests of connections: a server's and an administrator's. */
final class Certificates {
    /** A server certificate, created once for all tests. */
    static final Supplier<Identity> SERVER = once("CN=server");

    /** An administrator's certificate, created once for all tests. */
    static final Supplier<Identity> CLIENT = once("CN=somebody,O=system:masters,O=devs");

    private Certificates() {}

    private static Supplier<Identity> once(String name) {
        AtomicReference<Identity> made = new AtomicReference<>();
        return () -> {
            synchronized (made) {
                try {
                    if (made.get() == null) {
                        made.set(make(name));
                    }
                    return made.get();
                } catch (Exception e) {
                    throw new IllegalStateException("making " + name, e);
                }
            }
        };
    }

    /** Creates an identity with this distinguished name. */
    static Identity make(String name) throws Exception {
        return TestCertificates.make(name, "ip:127.0.0.1");
    }

    /** A server with the certificate {@code own}, which trusts client certificates of {@code trusted}. */
    static ServerIdentity identity(Identity own, Identity... trusted) {
        return new ServerIdentity(
                own.key(),
                own.chain(),
                Arrays.stream(trusted).map(Identity::certificate).toList());
    }

    /** The TLS context of a client that sends its certificate even to a server that does not list its authority. */
    static SSLContext pushy(Identity own, Identity trusted) throws Exception {
        X509ExtendedKeyManager honest = (X509ExtendedKeyManager) TestCertificates.keyManagers(own)[0];
        return TestCertificates.context(new KeyManager[] {new Pushy(honest)}, trusted);
    }

    private static final class Pushy extends X509ExtendedKeyManager {
        private final X509ExtendedKeyManager honest;

        private Pushy(X509ExtendedKeyManager honest) {
            this.honest = honest;
        }

        private String only() {
            return honest.getClientAliases("EC", null)[0];
        }

        @Override
        public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
            return only();
        }

        @Override
        public String[] getClientAliases(String type, Principal[] issuers) {
            return new String[] {only()};
        }

        @Override
        public String[] getServerAliases(String type, Principal[] issuers) {
            return new String[0];
        }

        @Override
        public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
            throw new UnsupportedOperationException("this is a client");
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return honest.getCertificateChain(alias);
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return honest.getPrivateKey(alias);
        }
    }
}
