package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.config.SandboxOptions.Dns;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What pods get of the node's DNS. */
class PodDnsTest extends SimulatedNode {
    private Optional<Dns> dns() {
        add("web");
        start(110);
        advance(5);
        return runtime.calls().stream()
                .filter(RuntimeCall.RunSandbox.class::isInstance)
                .map(call -> ((RuntimeCall.RunSandbox) call).config().options().dns())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldTakeThatOfTheNodesFile() throws IOException {
        Files.writeString(directory.resolve("resolv.conf"), "nameserver 9.9.9.9\n");

        assertThat(dns()).contains(new Dns(List.of("9.9.9.9"), List.of(), List.of()));
    }

    /** With no server at all a runtime would take the node's file. */
    @Test
    void shouldAskThePodItselfWithoutAFile() {
        resolvConf = Optional.of(Path.of(""));

        assertThat(dns()).contains(new Dns(List.of("127.0.0.1"), List.of(), List.of()));
    }
}
