package io.nodekeeper.it;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.net.BindException;
import java.net.HttpURLConnection;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What an agent tells at its own port. */
public final class AgentPage {
    private static final int LIMIT_MILLIS = 10_000;
    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    private final int port;

    /** The agent serves at {@code port} of the loopback address. */
    AgentPage(int port) {
        this.port = port;
    }

    /** What the agent knows of one pod: how old that is in seconds, and whether it counts as stuck. */
    public record PodKnowledge(double ageSeconds, boolean stuck) {}

    /**
     * A port that is free now, and that the kernel gives to no connection in between: those begin at 32768. Other tests of this
     * process get other ones; members of etcd have theirs from 24,000 on.
     */
    public static int freePort() throws IOException {
        for (int tries = 0; ; tries++) {
            int port = ThreadLocalRandom.current().nextInt(11_000, 24_000);
            try (ServerSocket socket = new ServerSocket(port)) {
                if (GIVEN.add(port)) {
                    return socket.getLocalPort();
                }
            } catch (BindException e) {
                if (tries == 100) {
                    throw e;
                }
            }
        }
    }

    /** {@code /debug/runtime}; empty without an answer. */
    public Optional<JsonObject> runtime() {
        return get("/debug/runtime").map(Json::parseObject);
    }

    /** What it knows of each pod, by name; without those that it has not inspected yet; empty without an answer. */
    public Map<String, PodKnowledge> pods() {
        Map<String, PodKnowledge> pods = new LinkedHashMap<>();
        runtime()
                .ifPresent(page -> page.array("pods")
                        .objects()
                        .forEach(pod -> pod.get("ageSeconds")
                                .ifPresent(age -> pods.put(
                                        pod.text("name"),
                                        new PodKnowledge(
                                                ((JsonNumber) age).decimal().doubleValue(), pod.bool("stuck"))))));
        return pods;
    }

    /** The value of a metric, with its labels if it has any; empty if it is missing, or without an answer. */
    public OptionalDouble metric(String name) {
        Matcher line = Pattern.compile("^" + Pattern.quote(name) + " (\\S+)", Pattern.MULTILINE)
                .matcher(get("/metrics").orElse(""));
        return line.find() ? OptionalDouble.of(Double.parseDouble(line.group(1))) : OptionalDouble.empty();
    }

    /** The text at {@code path}; empty without an answer, or if the answer is an error. */
    public Optional<String> get(String path) {
        try {
            HttpURLConnection connection = (HttpURLConnection)
                    URI.create("http://127.0.0.1:" + port + path).toURL().openConnection();
            connection.setConnectTimeout(LIMIT_MILLIS);
            connection.setReadTimeout(LIMIT_MILLIS);
            try (var in = connection.getInputStream()) {
                return Optional.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            // An agent that ends, or has only begun.
            return Optional.empty();
        }
    }
}
