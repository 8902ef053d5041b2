package io.nodekeeper.cli.ui;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A headless Chromium, controlled through chromedriver by the WebDriver protocol. Not thread-safe. */
final class BrowserDriver implements AutoCloseable {
    /** A browser that hangs ends the test. */
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private static final Pattern PORT = Pattern.compile("started successfully on port (\\d+)");

    private final HttpClient http = HttpClient.newHttpClient();
    private final Process driver;
    private final String session;
    private final String id;

    BrowserDriver(Path profile, String... more) throws IOException, InterruptedException {
        driver = new ProcessBuilder("chromedriver", "--port=0")
                .redirectErrorStream(true)
                .start();
        BufferedReader output = driver.inputReader();
        String line = output.readLine();
        int port = 0;
        while (line != null && port == 0) {
            Matcher matcher = PORT.matcher(line);
            if (matcher.find()) {
                port = Integer.parseInt(matcher.group(1));
            } else {
                line = output.readLine();
            }
        }
        JsonArray arguments = JsonArray.ofStrings(Stream.concat(
                        Stream.of(
                                "--headless",
                                "--no-sandbox",
                                "--disable-gpu",
                                "--disable-dev-shm-usage",
                                "--disable-quic",
                                "--no-first-run",
                                "--disable-background-networking",
                                "--disable-component-update",
                                "--disable-sync",
                                "--window-size=1440,1000",
                                "--user-data-dir=" + profile),
                        Stream.of(more))
                .toList());
        JsonObject wanted = JsonObject.EMPTY
                .with("goog:chromeOptions", JsonObject.EMPTY.with("args", arguments))
                .with("goog:loggingPrefs", JsonObject.EMPTY.with("browser", "ALL"));
        session = "http://127.0.0.1:" + port + "/session";
        JsonObject created = call(
                "POST", session, JsonObject.EMPTY.with("capabilities", JsonObject.EMPTY.with("alwaysMatch", wanted)));
        id = created.object("value").text("sessionId");
    }

    private JsonObject call(String method, String url, JsonObject body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url))
                .timeout(LIMIT)
                .method(
                        method,
                        method.equals("POST")
                                ? HttpRequest.BodyPublishers.ofByteArray(Json.writeBytes(body))
                                : HttpRequest.BodyPublishers.noBody())
                .build();
        HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException(method + " " + url + " -> " + response.statusCode() + ": " + response.body());
        }
        return Json.parseObject(response.body());
    }

    private JsonObject command(String name, JsonObject body) throws IOException, InterruptedException {
        return call("POST", session + "/" + id + "/" + name, body);
    }

    void open(String url) throws IOException, InterruptedException {
        command("url", JsonObject.EMPTY.with("url", url));
    }

    /** The result of a script, as text. */
    String run(String script) throws IOException, InterruptedException {
        JsonValue value = command(
                        "execute/sync", JsonObject.EMPTY.with("script", script).with("args", JsonArray.EMPTY))
                .get("value")
                .orElse(new JsonString(""));
        return value instanceof JsonString(String text) ? text : Json.write(value);
    }

    /** Waits until a script's result is {@code expected}; the browser polls. Returns the last result. */
    String await(String script, String expected) throws IOException, InterruptedException {
        String body = "const done = arguments[arguments.length - 1], end = Date.now() + 20000;"
                + "(function look() { let now = ''; try { now = String((function () { " + script
                + " })()); } catch (e) { now = String(e); }"
                + "if (now === " + Json.write(new JsonString(expected))
                + " || Date.now() > end) done(now); else setTimeout(look, 50); })();";
        return command("execute/async", JsonObject.EMPTY.with("script", body).with("args", JsonArray.EMPTY))
                .text("value");
    }

    /** Types keys as a person does. */
    void keys(String keys) throws IOException, InterruptedException {
        List<JsonValue> actions = keys.codePoints()
                .mapToObj(Character::toString)
                .<JsonValue>mapMulti((key, sink) -> List.of("keyDown", "keyUp")
                        .forEach(type ->
                                sink.accept(JsonObject.EMPTY.with("type", type).with("value", key))))
                .toList();
        actions("key", JsonObject.EMPTY, actions);
    }

    /** Clicks at a place of the window. */
    void click(int x, int y) throws IOException, InterruptedException {
        JsonObject move = JsonObject.builder()
                .put("type", "pointerMove")
                .put("x", x)
                .put("y", y)
                .build();
        JsonObject down =
                JsonObject.builder().put("type", "pointerDown").put("button", 0).build();
        JsonObject up =
                JsonObject.builder().put("type", "pointerUp").put("button", 0).build();
        actions(
                "pointer",
                JsonObject.EMPTY.with("parameters", JsonObject.EMPTY.with("pointerType", "mouse")),
                List.of(move, down, up));
    }

    private void actions(String type, JsonObject more, List<JsonValue> actions)
            throws IOException, InterruptedException {
        JsonObject source = more.with("type", type).with("id", type).with("actions", new JsonArray(actions));
        command("actions", JsonObject.EMPTY.with("actions", JsonArray.of(source)));
    }

    /** What the browser complains of: script errors, refused resources, violations of the content security policy. */
    List<String> complaints() throws IOException, InterruptedException {
        return command("se/log", JsonObject.EMPTY.with("type", "browser"))
                .array("value")
                .objects()
                .filter(entry -> !entry.text("level").equals("DEBUG")
                        && !entry.text("level").equals("INFO"))
                .map(entry -> entry.text("message"))
                .toList();
    }

    void screenshot(Path file) throws IOException, InterruptedException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.write(
                file,
                Base64.getDecoder()
                        .decode(call("GET", session + "/" + id + "/screenshot", JsonObject.EMPTY)
                                .text("value")));
    }

    @Override
    public void close() {
        try {
            call("DELETE", session + "/" + id, JsonObject.EMPTY);
        } catch (IOException e) {
            // The browser ends with its driver.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        http.close();
        driver.descendants().forEach(ProcessHandle::destroy);
        driver.destroy();
    }
}
