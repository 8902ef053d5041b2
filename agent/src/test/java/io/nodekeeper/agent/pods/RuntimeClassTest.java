package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.cri.RuntimeCall;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pods that name a RuntimeClass. */
class RuntimeClassTest extends SimulatedNode {
    private List<String> handlers() {
        return runtime.calls().stream()
                .filter(RuntimeCall.RunSandbox.class::isInstance)
                .map(call -> ((RuntimeCall.RunSandbox) call).handler())
                .toList();
    }

    @Test
    void shouldRunAPodWithTheHandlerOfItsClass() {
        runtimeClasses.put(
                "small-vm", Json.parseObject("{\"metadata\": {\"name\": \"small-vm\"}, \"handler\": \"kata\"}"));
        add("vm", "", ", \"runtimeClassName\": \"small-vm\"");
        add("usual");

        start(110);
        advance(5);

        assertThat(handlers()).containsExactlyInAnyOrder("kata", "");
        assertThat(phase("vm")).isEqualTo("Running");
    }

    @Test
    void shouldLetAPodWaitUntilItsClassExists() {
        add("vm", "", ", \"runtimeClassName\": \"small-vm\"");

        start(110);
        advance(5);

        assertThat(handlers()).isEmpty();
        assertThat(phase("vm")).isEqualTo("Pending");
        assertThat(events)
                .contains("vm Warning FailedCreatePodSandBox Failed to create pod sandbox:"
                        + " runtimeclass.node.k8s.io \"small-vm\" not found");

        runtimeClasses.put(
                "small-vm", Json.parseObject("{\"metadata\": {\"name\": \"small-vm\"}, \"handler\": \"kata\"}"));
        advance(12);

        assertThat(handlers()).containsExactly("kata");
        assertThat(phase("vm")).isEqualTo("Running");
    }
}
