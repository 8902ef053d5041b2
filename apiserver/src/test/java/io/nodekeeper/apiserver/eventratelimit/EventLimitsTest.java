package io.nodekeeper.apiserver.eventratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.flowcontrol.FlowControlOptions;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The limits of {@code --event-rate-limit-config}, with complete requests. */
class EventLimitsTest {
    private static final User BOB = User.authenticated("bob", List.of("system:masters"));

    private static TestServer server(String type) {
        String file = """
                apiVersion: eventratelimit.admission.k8s.io/v1alpha1
                kind: Configuration
                limits:
                - {type: %s, qps: 1, burst: 2}
                """.formatted(type);
        return new TestServer(
                FlowControlOptions.DEFAULT.events(EventLimitsFile.read(file.getBytes(StandardCharsets.UTF_8))));
    }

    private static Answer event(TestServer server, User user, String namespace, String name, String host) {
        return server.ask(
                user,
                "POST",
                "/api/v1/namespaces/" + namespace + "/events",
                "{\"metadata\":{\"name\":\"" + name + "\"},\"involvedObject\":{\"kind\":\"Pod\",\"namespace\":\""
                        + namespace
                        + "\",\"name\":\"p\",\"uid\":\"u\",\"apiVersion\":\"v1\"},\"source\":{\"component\":\"kubelet\",\"host\":\""
                        + host + "\"},\"reason\":\"R\",\"type\":\"Normal\"}");
    }

    @ParameterizedTest
    @CsvSource({
        // The type, its key for the events below, and whether another namespace, user or source has its own limit.
        "Server, '', false, false, false",
        "Namespace, default, true, false, false",
        "User, admin, false, true, false",
        "SourceAndObject, kubeletn1PoddefaultpUv1, true, false, true",
    })
    void beyondItsBurstALimitRefusesWhatSharesItAndNothingElse(
            String type, String key, boolean namespaces, boolean users, boolean sources) {
        TestServer server = server(type);
        server.post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"other\"}}");
        // given a used burst
        assertThat(event(server, TestServer.ADMIN, "default", "a", "n1").status())
                .isEqualTo(201);
        assertThat(event(server, TestServer.ADMIN, "default", "b", "n1").status())
                .isEqualTo(201);
        // when one more event is written
        Answer refused = event(server, TestServer.ADMIN, "default", "c", "n1");
        // then it is refused as in Kubernetes, and is not stored
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.reason()).isEqualTo("TooManyRequests");
        assertThat(refused.message())
                .isEqualTo("Too many requests: limit reached on type " + type + " for key " + key.replace("U", "u"));
        assertThat(refused.headers()).containsEntry("retry-after", "1");
        assertThat(server.get("/api/v1/namespaces/default/events/c").status()).isEqualTo(404);
        // and an event with another key is accepted
        assertThat(event(server, TestServer.ADMIN, "other", "d", "n1").status()).isEqualTo(namespaces ? 201 : 429);
        assertThat(event(server, BOB, "default", "e", "n1").status()).isEqualTo(users ? 201 : 429);
        assertThat(event(server, TestServer.ADMIN, "default", "f", "n2").status())
                .isEqualTo(sources ? 201 : 429);
        // and after a second, one more is accepted
        server.time.advance(Duration.ofSeconds(1));
        assertThat(event(server, TestServer.ADMIN, "default", "g", "n1").status())
                .isEqualTo(201);
    }

    @Test
    void patchesAndBothEventApisShareTheLimitButDeletionsDoNot() {
        TestServer server = server("Server");
        String newer = "/apis/events.k8s.io/v1/namespaces/default/events";
        assertThat(event(server, TestServer.ADMIN, "default", "a", "n1").status())
                .isEqualTo(201);
        assertThat(server.patch(TestServer.MERGE, "/api/v1/namespaces/default/events/a", "{\"count\":2}")
                        .status())
                .isEqualTo(200);
        Answer third = server.post(
                newer,
                "{\"metadata\":{\"name\":\"n\"},\"eventTime\":\"2026-11-21T07:00:00.000000Z\",\"reportingController\":\"example.com/c\","
                        + "\"reportingInstance\":\"i\",\"action\":\"A\",\"reason\":\"R\",\"type\":\"Normal\",\"regarding\":{\"kind\":\"Pod\",\"namespace\":\"default\",\"name\":\"p\"}}");
        assertThat(third.status()).as(third.text()).isEqualTo(429);
        assertThat(server.delete("/api/v1/namespaces/default/events/a", "").status())
                .isEqualTo(200);
    }
}
