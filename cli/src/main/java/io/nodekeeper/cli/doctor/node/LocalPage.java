package io.nodekeeper.cli.doctor.node;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A page that a process on this machine serves over plain HTTP.
 *
 * @param status the HTTP status
 * @param text the page, in UTF-8, its first bytes if it is long
 */
public record LocalPage(int status, String text) {
    /** Each of connecting and waiting for bytes; a process that works answers in milliseconds. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /**
     * Reads a page of the loopback address; blocks.
     *
     * @param limit the most bytes that are read
     * @throws java.net.ConnectException if no process listens
     */
    public static LocalPage read(int port, String target, int limit) throws IOException {
        HttpURLConnection connection = (HttpURLConnection)
                URI.create("http://127.0.0.1:" + port + target).toURL().openConnection(Proxy.NO_PROXY);
        try {
            connection.setConnectTimeout((int) PATIENCE.toMillis());
            connection.setReadTimeout((int) PATIENCE.toMillis());
            connection.setInstanceFollowRedirects(false);
            int status = connection.getResponseCode();
            try (InputStream in = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
                String text = in == null ? "" : new String(in.readNBytes(limit), StandardCharsets.UTF_8);
                return new LocalPage(status, text);
            }
        } finally {
            connection.disconnect();
        }
    }
}
