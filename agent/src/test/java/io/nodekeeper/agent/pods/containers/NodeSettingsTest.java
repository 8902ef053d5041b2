package io.nodekeeper.agent.pods.containers;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.cgroups.PodParent;
import io.nodekeeper.api.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeSettingsTest {
    @ParameterizedTest
    @CsvSource({
        "'', 127.0.0.1",
        "10.0.0.1, 127.0.0.1",
        "fd00::1, ::1",
        "10.0.0.1 fd00::1, 127.0.0.1 ::1",
        "fd00::1 10.0.0.1, ::1 127.0.0.1",
        "fd00::1 fd00::2, ::1"
    })
    void shouldLetPodsAskThemselvesInEachIpFamilyOfTheNode(String addresses, String servers) {
        NodeSettings node = new NodeSettings(
                "n1",
                Stream.of(addresses.split(" "))
                        .filter(address -> !address.isEmpty())
                        .toList(),
                JsonObject.EMPTY,
                JsonObject.EMPTY,
                Path.of("/logs"),
                List.of(),
                "",
                PodParent.NONE,
                Seccomp.of(Path.of("/root"), false));

        assertThat(node.loopbackResolvConf())
                .isEqualTo(Stream.of(servers.split(" "))
                        .map(server -> "nameserver " + server + "\n")
                        .collect(Collectors.joining()));
    }
}
