package io.nodekeeper.it.alerts;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.nodekeeper.it.AgentPage;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * A real Prometheus and a real Alertmanager with the configuration that operators are given, and a server that has the
 * fleet's metrics and receives the notifications. All times of the configuration are divided by the speed.
 */
final class Monitoring implements AutoCloseable {
    private static final Path ALERTS = Path.of("..", "docs", "alerts");
    private static final Pattern TIME =
            Pattern.compile("(for|group_wait|group_interval|repeat_interval|resolve_timeout): (\\d+)([smh])");

    private final int speed;
    private final List<String> notifications = new CopyOnWriteArrayList<>();
    private final List<Process> processes = new ArrayList<>();
    private final ExecutorService threads = Executors.newFixedThreadPool(2);
    private final HttpServer server;
    private final int prometheus = AgentPage.freePort();
    private volatile ScrapedFleet fleet = ScrapedFleet.CALM;

    Monitoring(Path directory, int speed) throws IOException {
        this.speed = speed;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
        server.setExecutor(threads);
        server.createContext("/metrics", exchange -> answer(exchange, fleet.text(System.currentTimeMillis() / 1e3)));
        server.createContext("/", this::receive);
        server.start();
        int alertmanager = AgentPage.freePort();
        Path configuration = alertmanagerConfiguration(directory);
        start(
                directory,
                "prometheus-alertmanager",
                "--config.file=" + configuration,
                "--storage.path=" + directory.resolve("alertmanager"),
                "--web.listen-address=127.0.0.1:" + alertmanager,
                "--cluster.listen-address=");
        start(
                directory,
                "prometheus",
                "--config.file=" + prometheusConfiguration(directory, alertmanager),
                "--storage.tsdb.path=" + directory.resolve("prometheus"),
                "--web.listen-address=127.0.0.1:" + prometheus);
    }

    /** From now on scrapes find this. */
    void becomes(ScrapedFleet next) {
        fleet = next;
    }

    /** The receivers that were notified so far, in that order: {@code chat}, {@code text-message}, {@code pager}. */
    List<String> notifications() {
        return List.copyOf(notifications);
    }

    /** How many alerts of {@code name} fire now, whether they are notified or not. */
    int firing(String name) throws IOException {
        return count("ALERTS{alertstate=\"firing\",alertname=\"" + name + "\"}");
    }

    /** How many agents of the zone "a" Prometheus knows. */
    int scraped() throws IOException {
        return count("up{zone=\"a\"}");
    }

    private int count(String series) throws IOException {
        String query = URLEncoder.encode("count(" + series + ")", StandardCharsets.UTF_8);
        HttpURLConnection connection =
                (HttpURLConnection) URI.create("http://127.0.0.1:" + prometheus + "/api/v1/query?query=" + query)
                        .toURL()
                        .openConnection();
        connection.setConnectTimeout(3_000);
        connection.setReadTimeout(3_000);
        try (var in = connection.getInputStream()) {
            String body = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return Pattern.compile("\"value\":\\[[^,]+,\"(\\d+)\"]")
                    .matcher(body)
                    .results()
                    .mapToInt(value -> Integer.parseInt(value.group(1)))
                    .sum();
        } catch (IOException e) {
            // Prometheus has not started yet.
            return 0;
        }
    }

    private void receive(HttpExchange exchange) throws IOException {
        exchange.getRequestBody().readAllBytes();
        String path = exchange.getRequestURI().getPath().substring(1);
        notifications.add(path);
        answer(exchange, "{}");
    }

    private static void answer(HttpExchange exchange, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4");
        exchange.sendResponseHeaders(200, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private Path alertmanagerConfiguration(Path directory) throws IOException {
        String receiver = "http://127.0.0.1:" + server.getAddress().getPort();
        Path slack = Files.writeString(directory.resolve("slack-url"), receiver + "/chat");
        Path pager = Files.writeString(directory.resolve("pagerduty-routing-key"), "key");
        String given = Files.readString(ALERTS.resolve("alertmanager").resolve("alertmanager.yaml"));
        String changed = quick(given)
                .replace("/etc/alertmanager/nodekeeper/slack-url", slack.toString())
                .replace("/etc/alertmanager/nodekeeper/pagerduty-routing-key", pager.toString())
                .replace("http://127.0.0.1:9095", receiver)
                .replace("global:\n", "global:\n  pagerduty_url: " + receiver + "/pager\n");
        return Files.writeString(directory.resolve("alertmanager.yaml"), changed);
    }

    private Path prometheusConfiguration(Path directory, int alertmanager) throws IOException {
        for (String rules : List.of("nodekeeper-agent.rules.yaml", "nodekeeper-controller.rules.yaml")) {
            Files.writeString(directory.resolve(rules), quick(Files.readString(ALERTS.resolve(rules))));
        }
        return Files.writeString(directory.resolve("prometheus.yaml"), """
                global:
                  scrape_interval: 1s
                  evaluation_interval: 1s
                rule_files: ["*.rules.yaml"]
                alerting:
                  alertmanagers:
                    - static_configs: [{targets: ["127.0.0.1:%d"]}]
                scrape_configs:
                  - job_name: fleet
                    honor_labels: true
                    static_configs: [{targets: ["127.0.0.1:%d"]}]
                """.formatted(
                        alertmanager, server.getAddress().getPort()));
    }

    private String quick(String configuration) {
        return TIME.matcher(configuration).replaceAll(this::quick);
    }

    private String quick(MatchResult time) {
        long unit = switch (time.group(3)) {
            case "s" -> 1_000;
            case "m" -> 60_000;
            default -> 3_600_000;
        };
        return time.group(1) + ": " + Long.parseLong(time.group(2)) * unit / speed + "ms";
    }

    private void start(Path directory, String program, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(program));
        command.addAll(List.of(arguments));
        Process process;
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve(program + ".log").toFile())
                    .start();
        } catch (IOException e) {
            throw new IllegalStateException(
                    program + " is missing; install it (Debian: apt-get install --no-install-recommends " + program
                            + "), or run ./test --all, which does",
                    e);
        }
        processes.add(process);
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "kill " + program));
    }

    @Override
    public void close() throws InterruptedException {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
        server.stop(0);
        threads.shutdownNow();
    }
}
