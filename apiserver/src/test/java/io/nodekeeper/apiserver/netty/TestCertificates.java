package io.nodekeeper.apiserver.netty;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;

/** Self-signed certificates, created with the JDK's keytool; each is its own authority. */
final class TestCertificates {
    private static final char[] PASSWORD = "changeit".toCharArray();

    /** A server certificate, created once for all tests. */
    static final Supplier<KeyStore> SERVER = once("CN=server");

    /** An administrator's certificate, created once for all tests. */
    static final Supplier<KeyStore> CLIENT = once("CN=somebody,O=system:masters,O=devs");

    private TestCertificates() {}

    private static Supplier<KeyStore> once(String name) {
        AtomicReference<KeyStore> made = new AtomicReference<>();
        return () -> {
            synchronized (made) {
                try {
                    if (made.get() == null) {
                        Path directory = Files.createTempDirectory("certificates");
                        made.set(make(directory, "identity", name));
                        Files.delete(directory.resolve("identity.p12"));
                        Files.delete(directory);
                    }
                    return made.get();
                } catch (Exception e) {
                    throw new IllegalStateException("making " + name, e);
                }
            }
        };
    }

    /** Creates an identity with this distinguished name. */
    static KeyStore make(Path directory, String file, String name) throws Exception {
        Path path = directory.resolve(file + ".p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "it",
                        "-keyalg",
                        "EC",
                        "-groupname",
                        "secp256r1",
                        "-dname",
                        name,
                        "-ext",
                        "san=ip:127.0.0.1",
                        "-ext",
                        "bc=ca:true",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        "changeit",
                        "-keystore",
                        path.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (keytool.waitFor() != 0) {
            throw new IOException("keytool: " + output);
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(path)) {
            store.load(in, PASSWORD);
        }
        return store;
    }

    /** A server with the certificate {@code own}, which trusts client certificates of {@code trusted}. */
    static ServerIdentity identity(KeyStore own, KeyStore... trusted) throws Exception {
        List<X509Certificate> authorities = new ArrayList<>();
        for (KeyStore store : trusted) {
            authorities.add((X509Certificate) store.getCertificate("it"));
        }
        return new ServerIdentity(
                (PrivateKey) own.getKey("it", PASSWORD),
                List.of((X509Certificate) own.getCertificate("it")),
                authorities);
    }

    /** A client's TLS context that trusts {@code trusted} and sends {@code own}, which may be empty. */
    static SSLContext context(KeyStore own, KeyStore... trusted) throws Exception {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(own, PASSWORD);
        KeyStore all = empty();
        for (int i = 0; i < trusted.length; i++) {
            Certificate certificate = trusted[i].getCertificate("it");
            all.setCertificateEntry("trusted-" + i, certificate);
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(all);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    /** As {@link #context}, but sends its certificate even to a server that does not list its authority. */
    static SSLContext pushy(KeyStore own, KeyStore trusted) throws Exception {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(own, PASSWORD);
        X509ExtendedKeyManager honest = (X509ExtendedKeyManager) keys.getKeyManagers()[0];
        KeyStore all = empty();
        all.setCertificateEntry("trusted", trusted.getCertificate("it"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(all);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(new KeyManager[] {new Pushy(honest)}, trust.getTrustManagers(), null);
        return context;
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

    /** A key store without a key. */
    static KeyStore empty() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }
}
