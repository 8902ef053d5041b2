package io.nodekeeper.it.install;

import io.nodekeeper.it.Eventually;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The page {@code /readyz} of a controller, at the address that its log names. */
final class ReadyPage {
    private static final Pattern ADDRESS = Pattern.compile("serves its pages at (http://\\S+)");
    private static final Duration READY = Duration.ofSeconds(120);

    private ReadyPage() {}

    /** What a controller has logged so far. */
    interface Log {
        String text() throws IOException;
    }

    /** Waits until the page answers 200; a failure contains the log. */
    static void await(Log log) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            Eventually.within(READY, () -> {
                Matcher address = ADDRESS.matcher(log.text());
                if (!address.find()) {
                    return false;
                }
                HttpRequest request = HttpRequest.newBuilder(URI.create(address.group(1) + "/readyz"))
                        .timeout(Duration.ofSeconds(10))
                        .build();
                return client.send(request, HttpResponse.BodyHandlers.ofString())
                                .statusCode()
                        == 200;
            });
        } catch (AssertionError e) {
            throw new AssertionError("not ready: " + log.text(), e);
        }
    }
}
