package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which pods a node takes. */
class AdmissionTest {
    private static final JsonObject ALLOCATABLE =
            Json.parseObject("{\"cpu\": \"2\", \"memory\": \"1Gi\", \"ephemeral-storage\": \"10Gi\"}");

    private static Pod pod(String requests, String spec) {
        return new Pod(Json.parseObject("""
                {"spec": {"containers": [{"name": "c", "resources": {"requests": {%s}}}]%s}}
                """.formatted(requests, spec)));
    }

    private static Pod pod(String requests) {
        return pod(requests, "");
    }

    private static String reason(Set<Pressure> pressures, Pod pod, Pod... active) {
        return new Admission(110, ALLOCATABLE, pressures, false)
                .refusal(pod, false, List.of(active))
                .map(why -> why.reason() + ": " + why.message())
                .orElse("");
    }

    @Test
    void shouldTakeWhatFitsExactly() {
        Pod half = pod("\"cpu\": \"1\", \"memory\": \"512Mi\"");

        assertThat(reason(Set.of(), half, half)).isEmpty();
        assertThat(reason(Set.of(), pod("\"cpu\": \"1m\""), half, half))
                .isEqualTo("OutOfcpu: Node didn't have enough resource: cpu, requested: 1, used: 2000,"
                        + " capacity: 2000");
        assertThat(reason(Set.of(), pod("\"memory\": \"1\""), half, half))
                .isEqualTo("OutOfmemory: Node didn't have enough resource: memory, requested: 1,"
                        + " used: 1073741824, capacity: 1073741824");
        assertThat(reason(Set.of(), pod("\"ephemeral-storage\": \"11Gi\""))).startsWith("OutOfephemeral-storage: ");
        assertThat(reason(Set.of(), pod(""), half, half)).isEmpty();
    }

    @Test
    void shouldLimitNothingWhoseAmountIsNotKnown() {
        assertThat(new Admission(110, JsonObject.EMPTY, Set.of(), false)
                        .refusal(pod("\"cpu\": \"1000\""), false, List.of()))
                .isEmpty();
    }

    @Test
    void shouldCountInitContainersAndSidecarsAsTheSchedulerDoes() {
        Pod pod = new Pod(Json.parseObject("""
                {"spec": {"initContainers": [
                   {"name": "a", "resources": {"requests": {"cpu": "300m"}}},
                   {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "200m"}}},
                   {"name": "b", "resources": {"requests": {"cpu": "900m"}}}],
                 "containers": [{"name": "c", "resources": {"requests": {"cpu": "500m"}}}]}}"""));

        assertThat(pod.request("cpu").toMillis()).isEqualTo(1_100);
    }

    @Test
    void shouldTakeUnderMemoryPressureOnlyWhatRequestsSomethingOrToleratesIt() {
        Set<Pressure> memory = Set.of(Pressure.MEMORY);
        String refused = "Evicted: The node had condition: [MemoryPressure]. ";

        assertThat(reason(memory, pod(""))).isEqualTo(refused);
        assertThat(reason(memory, pod("\"cpu\": \"1m\""))).isEmpty();
        assertThat(reason(memory, pod("", ", \"priority\": 2000000000"))).isEmpty();
        assertThat(reason(memory, pod("", tolerations("""
                {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}""")))).isEmpty();
        assertThat(reason(memory, pod("", tolerations("{\"operator\": \"Exists\"}"))))
                .isEmpty();
        assertThat(reason(memory, pod("", tolerations("""
                {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoExecute"}""")))).isEqualTo(refused);
        assertThat(reason(memory, pod("", tolerations("{\"key\": \"other\", \"operator\": \"Exists\"}"))))
                .isEqualTo(refused);
        assertThat(reason(Set.of(Pressure.DISK, Pressure.MEMORY), pod("\"cpu\": \"1m\"")))
                .isEqualTo("Evicted: The node had condition: [MemoryPressure DiskPressure]. ");
    }

    private static String tolerations(String one) {
        return ", \"tolerations\": [" + one + "]";
    }

    @Test
    void shouldTakeEachStaticPod() {
        Optional<Wanted.Eviction> refusal = new Admission(110, ALLOCATABLE, Set.of(Pressure.DISK), false)
                .refusal(pod("\"cpu\": \"100\""), true, List.of());

        assertThat(refusal).isEmpty();
    }

    @Test
    @Tag("A102")
    void shouldTakeNothingWhileTheMachineIsShutDown() {
        Optional<Wanted.Eviction> refusal =
                new Admission(110, ALLOCATABLE, Set.of(), true).refusal(pod(""), true, List.of());

        assertThat(refusal)
                .contains(new Wanted.Eviction("NodeShutdown", "Pod was rejected as the node is shutting down.", false));
    }
}
