package io.nodekeeper.cli.doctor.node;

import io.nodekeeper.client.config.ClientTls;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLException;

/**
 * A page that a process on this machine serves, over plain HTTP or with TLS.
 *
 * @param status the HTTP status
 * @param text the page, in UTF-8, its first bytes if it is long
 */
public record LocalPage(int status, String text) {
    /** Each of connecting and waiting for bytes; a process that works answers in milliseconds. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /**
     * Reads a page of the loopback address, once more with TLS if what answers is not HTTP; blocks.
     *
     * @param limit the most bytes that are read
     * @throws java.net.ConnectException if no process listens
     */
    public static LocalPage read(int port, String target, int limit) throws IOException {
        try {
            return read(connection("http", port, target), limit);
        } catch (ConnectException | SocketTimeoutException e) {
            // A server with TLS rejects plain HTTP at once.
            throw e;
        } catch (IOException e) {
            try {
                return withTls(port, target, limit);
            } catch (SSLException notTls) {
                e.addSuppressed(notTls);
                throw e;
            }
        }
    }

    /**
     * The server's certificate is not verified: an agent's may be one that it made itself. Nothing secret is
     * sent, and another process that has the port could answer over plain HTTP, too.
     */
    private static LocalPage withTls(int port, String target, int limit) throws IOException {
        HttpsURLConnection connection = (HttpsURLConnection) connection("https", port, target);
        connection.setSSLSocketFactory(ClientTls.unverified().getSocketFactory());
        connection.setHostnameVerifier((name, session) -> true);
        return read(connection, limit);
    }

    private static HttpURLConnection connection(String scheme, int port, String target) throws IOException {
        return (HttpURLConnection)
                URI.create(scheme + "://127.0.0.1:" + port + target).toURL().openConnection(Proxy.NO_PROXY);
    }

    private static LocalPage read(HttpURLConnection connection, int limit) throws IOException {
        try {
            connection.setConnectTimeout((int) PATIENCE.toMillis());
            connection.setReadTimeout((int) PATIENCE.toMillis());
            connection.setInstanceFollowRedirects(false);
            int status = connection.getResponseCode();
            if (status < 0) {
                throw new IOException("the answer is not HTTP");
            }
            try (InputStream in = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
                String text = in == null ? "" : new String(in.readNBytes(limit), StandardCharsets.UTF_8);
                return new LocalPage(status, text);
            }
        } finally {
            connection.disconnect();
        }
    }
}
