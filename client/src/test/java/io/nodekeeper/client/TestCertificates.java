package io.nodekeeper.client;

import io.nodekeeper.client.config.Identity;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** Self-signed certificates created with the JDK's keytool, each its own authority, and TLS contexts that use them. */
public final class TestCertificates {
    private static final char[] PASSWORD = "changeit".toCharArray();
    private static final String ALIAS = "it";

    private TestCertificates() {}

    /**
     * A new identity.
     *
     * @param name the distinguished name, as in {@code CN=server}
     * @param alternatives keytool's san, as in {@code ip:127.0.0.1,dns:server}
     */
    public static Identity make(String name, String alternatives) throws Exception {
        Path directory = Files.createTempDirectory("certificates");
        Path file = directory.resolve("identity.p12");
        try {
            Process keytool = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "keytool")
                                    .toString(),
                            "-genkeypair",
                            "-alias",
                            ALIAS,
                            "-keyalg",
                            "EC",
                            "-groupname",
                            "secp256r1",
                            "-dname",
                            name,
                            "-ext",
                            "san=" + alternatives,
                            "-ext",
                            "bc=ca:true",
                            "-storetype",
                            "PKCS12",
                            "-storepass",
                            new String(PASSWORD),
                            "-keystore",
                            file.toString())
                    .redirectErrorStream(true)
                    .start();
            String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (keytool.waitFor() != 0) {
                throw new IOException("keytool: " + output);
            }
            KeyStore store = KeyStore.getInstance("PKCS12");
            try (InputStream in = Files.newInputStream(file)) {
                store.load(in, PASSWORD);
            }
            return new Identity(
                    (PrivateKey) store.getKey(ALIAS, PASSWORD), List.of((X509Certificate) store.getCertificate(ALIAS)));
        } finally {
            Files.deleteIfExists(file);
            Files.delete(directory);
        }
    }

    /** A TLS context, of either side, that sends {@code own} and trusts {@code trusted}. */
    public static SSLContext context(Identity own, Identity... trusted) throws Exception {
        return context(keyManagers(own), trusted);
    }

    /** A TLS context without a certificate that trusts {@code trusted}. */
    public static SSLContext anonymous(Identity... trusted) throws Exception {
        return context(new KeyManager[0], trusted);
    }

    /** The same with these keys. */
    public static SSLContext context(KeyManager[] keys, Identity... trusted) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys, trustManagers(trusted), null);
        return context;
    }

    /** Those that offer {@code own}. */
    public static KeyManager[] keyManagers(Identity own) throws Exception {
        KeyStore store = empty();
        store.setKeyEntry(ALIAS, own.key(), PASSWORD, own.chain().toArray(X509Certificate[]::new));
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD);
        return keys.getKeyManagers();
    }

    private static TrustManager[] trustManagers(Identity... trusted) throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        for (int i = 0; i < trusted.length; i++) {
            store.setCertificateEntry("trusted-" + i, trusted[i].certificate());
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        return trust.getTrustManagers();
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, PASSWORD);
        return store;
    }
}
