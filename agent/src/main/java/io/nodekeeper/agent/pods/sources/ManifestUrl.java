package io.nodekeeper.agent.pods.sources;

import io.nodekeeper.agent.pods.model.Pod;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The manifest behind a URL: a pod or a list of pods. */
final class ManifestUrl implements ManifestSource {
    /** The kubelet's deadline, which includes the body. */
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    /** The most bytes of the manifest: as of a file. */
    private static final int MOST_BYTES = 10 << 20;

    private final URI url;
    private final Map<String, List<String>> headers;
    private final String node;
    private final HttpClient http =
            HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();

    ManifestUrl(URI url, Map<String, List<String>> headers, String node) {
        this.url = url;
        this.headers = headers;
        this.node = node;
    }

    @Override
    public String name() {
        return url.toString();
    }

    @Override
    public Duration deadline() {
        return DEADLINE;
    }

    @Override
    public List<Pod> read() throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(url);
        headers.forEach((name, values) -> values.forEach(value -> request.header(name, value)));
        try {
            HttpResponse<InputStream> response = http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
            try (InputStream in = response.body()) {
                byte[] bytes = in.readNBytes(MOST_BYTES + 1);
                if (response.statusCode() != 200) {
                    throw new IOException("expected status 200, got " + response.statusCode());
                }
                if (bytes.length == 0 || bytes.length > MOST_BYTES) {
                    throw new IOException("expected 1 to " + MOST_BYTES + " bytes, got " + bytes.length);
                }
                return new Manifest(node, "http", url.toString()).pods(bytes);
            }
        } catch (Manifest.Fault e) {
            throw new IOException(e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("did not answer in time", e);
        }
    }

    @Override
    public void close() {
        http.shutdownNow();
    }
}
