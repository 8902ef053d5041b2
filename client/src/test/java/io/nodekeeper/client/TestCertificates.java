package io.nodekeeper.client;

import io.nodekeeper.client.config.Identity;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Self-signed certificates made by the JDK's keytool, each its own authority. */
public final class TestCertificates {
    private TestCertificates() {}

    /** A new identity; {@code names} as keytool's san, as in {@code ip:127.0.0.1}. */
    public static Identity make(Path directory, String commonName, String names) throws Exception {
        Path file = directory.resolve(commonName + ".p12");
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
                        "CN=" + commonName,
                        "-ext",
                        "san=" + names,
                        "-ext",
                        "bc=ca:true",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        "changeit",
                        "-keystore",
                        file.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(keytool.getInputStream().readAllBytes());
        if (keytool.waitFor() != 0) {
            throw new IOException("keytool: " + output);
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, "changeit".toCharArray());
        }
        return new Identity((PrivateKey) store.getKey("it", "changeit".toCharArray()), List.of((X509Certificate)
                store.getCertificate("it")));
    }

    /** The TLS context of a server with that identity, which trusts {@code client}. */
    static SSLContext server(Identity server, X509Certificate client) throws GeneralSecurityException, IOException {
        char[] password = {};
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, password);
        keys.setKeyEntry("it", server.key(), password, new X509Certificate[] {server.certificate()});
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, password);
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, password);
        trusted.setCertificateEntry("client", client);
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }
}
