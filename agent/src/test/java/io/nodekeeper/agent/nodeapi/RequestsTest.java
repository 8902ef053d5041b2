package io.nodekeeper.agent.nodeapi;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.logs.LogOptions;
import io.nodekeeper.client.access.PageRight;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests to the node's API: what they ask for, and what they require. */
class RequestsTest {
    private static final Instant NOW = Instant.parse("2026-01-01T01:00:00Z");

    @ParameterizedTest
    @CsvSource({
        "GET, /pods, proxy, get",
        "GET, /healthz, proxy, get",
        "GET, /containerLogs/default/web/main, proxy, get",
        "POST, /exec/default/web/main, proxy, create",
        "GET, /exec/default/web/main, proxy, get",
        "GET, /stats/summary, stats, get",
        "GET, /stats, stats, get",
        "GET, /statsx, proxy, get",
        "GET, /metrics, metrics, get",
        "GET, /metrics/resource, metrics, get",
        "GET, /metrics/probes, metrics, get",
        "GET, /configz, proxy, get",
        "GET, /runningpods/, proxy, get",
        "GET, /healthz/syncloop, proxy, get",
        "GET, /logs/syslog, log, get",
        "POST, /checkpoint/default/web/main, checkpoint, create",
        "DELETE, /pods, proxy, delete",
        "TRACE, /pods, proxy, ''"
    })
    void requireTheRightsOfAKubelet(String method, String path, String subresource, String verb) {
        assertThat(Requests.right("n1", method, path)).isEqualTo(new PageRight.NodeRequest("n1", subresource, verb));
    }

    @Test
    void aLogHasAllOptionsOfKubernetes() {
        Query query = query(Map.of(
                "follow", "true",
                "previous", "true",
                "timestamps", "true",
                "tailLines", "7",
                "sinceSeconds", "3600",
                "limitBytes", "100"));

        assertThat(read("GET", "/containerLogs/shop/web/main", query))
                .isEqualTo(new Asked.Log(
                        "shop",
                        "web",
                        "main",
                        true,
                        new LogOptions(
                                true,
                                true,
                                OptionalLong.of(7),
                                Optional.of(Instant.parse("2026-01-01T00:00:00Z")),
                                OptionalLong.of(100))));
        assertThat(read("GET", "/containerLogs/shop/web/main", query(Map.of("tail", "3", "follow", "false"))))
                .isEqualTo(new Asked.Log(
                        "shop",
                        "web",
                        "main",
                        false,
                        new LogOptions(false, false, OptionalLong.of(3), Optional.empty(), OptionalLong.empty())));
    }

    @ParameterizedTest
    @CsvSource({
        "tailLines, -1, 'tailLines must be a whole number, at least 0, got \"-1\"'",
        "tailLines, many, 'tailLines must be a whole number, at least 0, got \"many\"'",
        "limitBytes, 0, 'limitBytes must be a whole number, at least 1, got \"0\"'",
        "sinceSeconds, 0, 'sinceSeconds must be a whole number, at least 1, got \"0\"'",
        "sinceTime, noon, 'sinceTime must be a time in RFC 3339, got \"noon\"'"
    })
    void anOptionOfALogThatIsWrongIsNamed(String name, String value, String why) {
        assertThat(read("GET", "/containerLogs/shop/web/main", query(Map.of(name, value))))
                .isEqualTo(new Asked.Nothing(400, why));
    }

    @Test
    void aTerminalHasNoStreamOfErrors() {
        Query query = new Query(Map.of(
                "command", List.of("sh", "-c", "ls"),
                "input", List.of("1"),
                "output", List.of("1"),
                "error", List.of("1"),
                "tty", List.of("1")));

        assertThat(read("POST", "/exec/shop/web/main", query))
                .isEqualTo(new Asked.Exec(
                        "shop",
                        "web",
                        "",
                        "main",
                        List.of("sh", "-c", "ls"),
                        new RuntimeCall.Streams(true, true, false, true)));
        assertThat(read("POST", "/attach/shop/web/uid-1/main", query(Map.of("output", "1"))))
                .isEqualTo(new Asked.Attach(
                        "shop", "web", "uid-1", "main", new RuntimeCall.Streams(false, true, false, false)));
    }

    @Test
    void aCommandNeedsWordsAndStreams() {
        assertThat(read("POST", "/exec/shop/web/main", query(Map.of("command", "ls"))))
                .isEqualTo(new Asked.Nothing(400, "you must specify at least 1 of stdin, stdout, stderr"));
        assertThat(read("POST", "/exec/shop/web/main", query(Map.of("output", "1"))))
                .isEqualTo(new Asked.Nothing(400, "you must specify at least 1 command for the container"));
    }

    @Test
    void portsAreChecked() {
        assertThat(read("POST", "/portForward/shop/web", new Query(Map.of("port", List.of("80", "443")))))
                .isEqualTo(new Asked.PortForward("shop", "web", "", List.of(80, 443)));
        assertThat(read("POST", "/portForward/shop/web", query(Map.of("port", "0"))))
                .isEqualTo(new Asked.Nothing(400, "port must be from 1 to 65535, got \"0\""));
        assertThat(read("POST", "/portForward/shop/web", query(Map.of("port", "99999"))))
                .isEqualTo(new Asked.Nothing(400, "port must be from 1 to 65535, got \"99999\""));
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /, 404",
        "GET, /containerLogs/shop/web, 404",
        "GET, /containerLogs//web/main, 404",
        "GET, /run/shop/web/main, 404",
        "GET, /exec/a/b/c/d/e, 404",
        "GET, '', 404",
        "POST, /pods, 405",
        "DELETE, /containerLogs/shop/web/main, 405"
    })
    void whatIsNotThereIsRefused(String method, String path, int status) {
        assertThat(read(method, path, Query.NONE))
                .isInstanceOfSatisfying(
                        Asked.Nothing.class,
                        nothing -> assertThat(nothing.status()).isEqualTo(status));
    }

    private static Asked read(String method, String path, Query query) {
        return Requests.read(method, path, query, NOW);
    }

    private static Query query(Map<String, String> values) {
        return new Query(values.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, entry -> List.of(entry.getValue()))));
    }
}
