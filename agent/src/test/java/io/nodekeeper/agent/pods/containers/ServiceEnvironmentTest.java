package io.nodekeeper.agent.pods.containers;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The variables by which containers find Services. */
class ServiceEnvironmentTest {
    @Test
    void shouldNameTheAddressAndEachPortAsAKubeletDoes() {
        Map<String, String> variables = ServiceEnvironment.of(List.of(Json.parseObject("""
                {"metadata": {"name": "redis-primary"}, "spec": {"clusterIP": "10.0.0.11", "ports": [
                 {"name": "main-port", "port": 6379, "protocol": "TCP"}, {"name": "dns", "port": 53, "protocol": "UDP"}]}}
                """)));

        assertThat(variables)
                .isEqualTo(Map.ofEntries(
                        Map.entry("REDIS_PRIMARY_SERVICE_HOST", "10.0.0.11"),
                        Map.entry("REDIS_PRIMARY_SERVICE_PORT", "6379"),
                        Map.entry("REDIS_PRIMARY_SERVICE_PORT_MAIN_PORT", "6379"),
                        Map.entry("REDIS_PRIMARY_SERVICE_PORT_DNS", "53"),
                        Map.entry("REDIS_PRIMARY_PORT", "tcp://10.0.0.11:6379"),
                        Map.entry("REDIS_PRIMARY_PORT_6379_TCP", "tcp://10.0.0.11:6379"),
                        Map.entry("REDIS_PRIMARY_PORT_6379_TCP_PROTO", "tcp"),
                        Map.entry("REDIS_PRIMARY_PORT_6379_TCP_PORT", "6379"),
                        Map.entry("REDIS_PRIMARY_PORT_6379_TCP_ADDR", "10.0.0.11"),
                        Map.entry("REDIS_PRIMARY_PORT_53_UDP", "udp://10.0.0.11:53"),
                        Map.entry("REDIS_PRIMARY_PORT_53_UDP_PROTO", "udp"),
                        Map.entry("REDIS_PRIMARY_PORT_53_UDP_PORT", "53"),
                        Map.entry("REDIS_PRIMARY_PORT_53_UDP_ADDR", "10.0.0.11")));
    }

    @Test
    void shouldLeaveOutServicesWithoutAnAddressAndPutAddressesOfVersionSixInBrackets() {
        Map<String, String> variables = ServiceEnvironment.of(List.of(
                Json.parseObject("{\"metadata\": {\"name\": \"headless\"}, \"spec\": {\"clusterIP\": \"None\","
                        + " \"ports\": [{\"port\": 1}]}}"),
                Json.parseObject("{\"metadata\": {\"name\": \"external\"}, \"spec\": {}}"),
                Json.parseObject("{\"metadata\": {\"name\": \"six\"}, \"spec\": {\"clusterIP\": \"fd00::1\","
                        + " \"ports\": [{\"port\": 80}]}}")));

        assertThat(variables)
                .containsEntry("SIX_SERVICE_HOST", "fd00::1")
                .containsEntry("SIX_PORT", "tcp://[fd00::1]:80")
                .hasSize(7);
    }

    @Test
    void shouldAddTheServiceOfTheApiUnlessTheNamespaceHasOneOfItsName() {
        JsonObject api = service("kubernetes", "10.0.0.1");
        Map<String, String> other = ServiceEnvironment.of(List.of(service("redis", "10.0.0.11")));
        Map<String, String> same = ServiceEnvironment.of(List.of(service("kubernetes", "10.0.0.12")));

        assertThat(ServiceEnvironment.withMaster(other, api))
                .containsEntry("KUBERNETES_SERVICE_HOST", "10.0.0.1")
                .containsEntry("REDIS_SERVICE_HOST", "10.0.0.11")
                .hasSize(14);
        assertThat(ServiceEnvironment.withMaster(same, api)).isEqualTo(same);
    }

    @Test
    void shouldCountVariablesAsLinuxDoes() {
        // A pointer of eight bytes, an equals sign and the end.
        assertThat(ServiceEnvironment.length(Map.of("NAME", "value", "A", ""))).isEqualTo(4 + 5 + 10 + 1 + 10);
    }

    private static JsonObject service(String name, String address) {
        return Json.parseObject("{\"metadata\": {\"name\": \"" + name + "\"}, \"spec\": {\"clusterIP\": \"" + address
                + "\", \"ports\": [{\"port\": 80}]}}");
    }
}
