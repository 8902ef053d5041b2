package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.config.CpuConfig;
import io.nodekeeper.agent.facts.CpuSet;
import io.nodekeeper.agent.pods.cpus.CpuManager;
import io.nodekeeper.agent.pods.cpus.CpuReconciler;
import io.nodekeeper.agent.pods.cpus.CpuStateFile;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.cri.RuntimeCall;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pods on a machine with four processors, of which guaranteed pods may have some for themselves. */
class CpuPodsTest extends SimulatedNode {
    private CpuManager cpus;

    @BeforeEach
    void machine() throws IOException {
        Path processors = directory.resolve("sys/devices/system/cpu");
        for (int cpu = 0; cpu < 4; cpu++) {
            Path files = Files.createDirectories(processors.resolve("cpu" + cpu + "/topology"));
            Files.writeString(files.resolve("physical_package_id"), "0\n");
            Files.writeString(files.resolve("core_id"), cpu + "\n");
        }
        Files.writeString(processors.resolve("online"), "0-3\n");
        List<String> faults = new ArrayList<>();
        CpuConfig config = new CpuConfig(true, Duration.ofSeconds(10), CpuSet.EMPTY);
        cpus = CpuStateFile.open(directory, directory, config, Quantity.parse("1"), new AtOnce(), loop, faults)
                .orElseThrow(() -> new AssertionError(faults));
        resources = new NodeResources(Optional.empty(), Optional.of(cpus));
    }

    @Test
    void shouldLeaveTheProcessorsThatAnotherPodHasForItselfAlsoWhileItIsEnding() {
        // given a pod that was deleted with ten minutes to end
        startAndDeleteSlowly("web");

        // when another one gets two processors for itself
        add("own", "\"resources\": {\"limits\": {\"cpu\": \"2\", \"memory\": \"1Gi\"}}", "");
        advance(5);
        assertThat(phase("own")).isEqualTo("Running");
        loop.execute(() ->
                PodAssembly.reconcile(new CpuReconciler(cpus, runtime, Duration.ofSeconds(5)), manager(), pleg()));
        advance(1);

        // then the container of the first one is moved to the others
        assertThat(cpus.cpus("uid-own", "app")).isEqualTo("1-2");
        assertThat(runtime.calls()).contains(new RuntimeCall.PinContainer("made-2", "0,3"));
    }
}
