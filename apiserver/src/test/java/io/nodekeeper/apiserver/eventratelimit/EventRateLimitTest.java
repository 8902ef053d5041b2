package io.nodekeeper.apiserver.eventratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.json.Json;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rate limits of Events by Kubernetes' types and by bytes. */
class EventRateLimitTest {
    private static final long SECOND = 1_000_000_000L;

    private static EventRateLimit limit(Limit.Type type, int qps, int burst, int cache) {
        return new EventRateLimit(EventLimits.of(List.of(new Limit(type, qps, burst, cache))));
    }

    private static EventWrite write(String namespace, String user, String source) {
        return new EventWrite(namespace, user, source, 1_000);
    }

    private static int accepted(EventRateLimit limit, EventWrite write, int writes, long now) {
        int accepted = 0;
        for (int i = 0; i < writes; i++) {
            accepted += limit.check(write, now).isEmpty() ? 1 : 0;
        }
        return accepted;
    }

    @Test
    void burstIsAllowedAndThenTheRate() {
        EventRateLimit limit = limit(Limit.Type.SERVER, 2, 10, 1);
        assertThat(accepted(limit, write("a", "u", "s"), 50, 0)).isEqualTo(10);
        assertThat(accepted(limit, write("b", "v", "t"), 50, SECOND)).isEqualTo(2);
        assertThat(accepted(limit, write("b", "v", "t"), 50, 100 * SECOND)).isEqualTo(10);
    }

    @Test
    void otherKeysAreNotLimited() {
        EventRateLimit users = limit(Limit.Type.USER, 1, 3, 10);
        assertThat(accepted(users, write("a", "noisy", "s"), 9, 0)).isEqualTo(3);
        assertThat(accepted(users, write("a", "quiet", "s"), 2, 0)).isEqualTo(2);
        EventRateLimit namespaces = limit(Limit.Type.NAMESPACE, 1, 3, 10);
        assertThat(accepted(namespaces, write("a", "u", "s"), 9, 0)).isEqualTo(3);
        assertThat(accepted(namespaces, write("b", "u", "s"), 9, 0)).isEqualTo(3);
        EventRateLimit sources = limit(Limit.Type.SOURCE_AND_OBJECT, 1, 3, 10);
        assertThat(accepted(sources, write("a", "u", "kubelet n1 pod"), 9, 0)).isEqualTo(3);
        assertThat(accepted(sources, write("a", "u", "kubelet n2 pod"), 9, 0)).isEqualTo(3);
    }

    @Test
    void refusalNamesTheLimitAsInKubernetes() {
        EventRateLimit limit = limit(Limit.Type.USER, 1, 1, 10);
        assertThat(limit.check(write("a", "noisy", "s"), 0)).isEmpty();
        assertThat(limit.check(write("a", "noisy", "s"), 0)).contains("limit reached on type User for key noisy");
    }

    @Test
    void bytesOfOneUserAreLimitedEvenForFewEvents() {
        // given a limit of 100 kB per second with a burst of 1 MB
        EventRateLimit limit = new EventRateLimit(new EventLimits(List.of(), 100_000, 1_000_000));
        EventWrite large = new EventWrite("a", "noisy", "s", 500_000);
        // when Events of 500 kB arrive
        long bytes = accepted(limit, large, 10, 0) * 500_000L;
        for (int second = 1; second <= 60; second++) {
            bytes += accepted(limit, large, 10, second * SECOND) * 500_000L;
        }
        // then a minute accepts the burst and 60 times the rate, and other users are not limited
        assertThat(bytes).isBetween(6_500_000L, 7_000_000L);
        assertThat(limit.check(new EventWrite("a", "quiet", "s", 1_000), 60 * SECOND))
                .isEmpty();
        assertThat(limit.check(large, 60 * SECOND)).contains("limit of 100000 bytes per second reached for user noisy");
    }

    @Test
    void numberOfKeysIsLimited() {
        // given buckets for two users
        EventRateLimit limit = limit(Limit.Type.USER, 1, 1, 2);
        assertThat(limit.check(write("a", "1", "s"), 0)).isEmpty();
        assertThat(limit.check(write("a", "2", "s"), 0)).isEmpty();
        assertThat(limit.check(write("a", "1", "s"), 0)).isPresent();
        // when a third user writes, the bucket of the least recently active user is removed
        assertThat(limit.check(write("a", "3", "s"), 0)).isEmpty();
        assertThat(limit.check(write("a", "2", "s"), 0)).isEmpty();
        // and a long key takes little memory
        String long1 = "x".repeat(1_000_000);
        assertThat(limit.check(write("a", long1, "s"), 0)).isEmpty();
        assertThat(limit.check(write("a", long1, "s"), 0).orElseThrow()).hasSizeLessThan(200);
    }

    @Test
    void kubernetesConfigurationIsParsed() {
        EventLimits limits = EventLimits.parse(Json.parseObject("{\"apiVersion\":"
                + "\"eventratelimit.admission.k8s.io/v1alpha1\",\"kind\":\"Configuration\",\"limits\":["
                + "{\"type\":\"Namespace\",\"qps\":50,\"burst\":100,\"cacheSize\":2000},"
                + "{\"type\":\"SourceAndObject\",\"qps\":10,\"burst\":50}]}"));
        assertThat(limits.limits())
                .containsExactly(
                        new Limit(Limit.Type.NAMESPACE, 50, 100, 2_000),
                        new Limit(Limit.Type.SOURCE_AND_OBJECT, 10, 50, 4_096));
    }

    @Test
    void allErrorsOfAConfigurationAreReported() {
        assertThatThrownBy(
                        () -> EventLimits.parse(
                                Json.parseObject(
                                        "{\"apiVersion\":\"v1\",\"kind\":\"Configuration\",\"limits\":[{\"type\":\"Node\",\"qps\":0}]}")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("apiVersion is \"v1\", expected \"eventratelimit.admission.k8s.io/v1alpha1\"\n"
                        + "limits[0].type is \"Node\", expected one of Server, Namespace, User, SourceAndObject\n"
                        + "limits[0].qps is 0, expected a whole number of 1 or more\n"
                        + "limits[0].burst is not given, expected a whole number of 1 or more");
    }
}
