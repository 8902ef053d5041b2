package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonMemory;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cri.ContainerState;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Who may create pods cannot fill the memory of an agent with them. */
class LargePodsTest extends SimulatedNode {
    /** A pod with as many variables of one letter. */
    private static JsonObject large(String name, int variables) {
        JsonObject variable =
                JsonObject.builder().put("name", "a").put("value", "b").build();
        JsonArray environment = new JsonArray(
                IntStream.range(0, variables).<JsonValue>mapToObj(i -> variable).toList());
        return pod(name)
                .update(
                        "spec",
                        spec -> spec.with(
                                "containers",
                                new JsonArray(List.of(spec.array("containers")
                                        .objects()
                                        .findFirst()
                                        .orElseThrow()
                                        .with("env", environment)))));
    }

    /** Room for {@code pods} with their status. Large ones may take three quarters of all. */
    private void room(JsonObject... pods) {
        podMemory = 0;
        for (JsonObject pod : pods) {
            podMemory += (JsonMemory.of(pod) + 10_000) * 4 / 3;
        }
    }

    @Test
    void shouldRefuseAPodForWhichThereIsNoMemoryAndRunTheOthers() {
        room(pod("a"), pod("b"), large("c", 1_000));
        add("a");
        change("c", large("c", 1_000));
        change("d", large("d", 1_000));
        start(110);
        advance(5);
        add("b");
        advance(5);

        assertThat(List.of(phase("a"), phase("b"), phase("c"))).containsOnly("Running");
        assertThat(stored("d").object("status").text("reason")).isEqualTo("OutOfAgentMemory");
        assertThat(phase("d")).isEqualTo("Failed");
        assertThat(events)
                .contains("d Warning OutOfAgentMemory The pod is too large for what the pods of this node may take of"
                        + " its agent's memory.");

        // when another one goes, a new pod of that size has room; the refused one can be deleted
        delete("c");
        advance(5);
        change("e", large("e", 1_000));
        delete("d");
        advance(5);
        assertThat(pods).containsOnlyKeys("a", "b", "e");
        assertThat(phase("e")).isEqualTo("Running");
    }

    @Test
    void shouldCountAPodOnceWhoseVersionsFollowEachOther() {
        room(large("a", 1_100));
        change("a", large("a", 1_000));
        start(110);
        advance(5);

        for (int i = 0; i < 10; i++) {
            change("a", large("a", 1_000 + i));
        }
        advance(5);
        change("b", large("b", 1_000));
        advance(5);

        assertThat(phase("a")).isEqualTo("Running");
        assertThat(phase("b")).isEqualTo("Failed");
    }

    @Test
    void shouldLeaveAPodAsItWasThatGrowsTooLargeWhileItRunsAndEndItWhenItIsDeleted() {
        room(pod("a"));
        add("a");
        start(110);
        advance(5);
        runtime.calls().clear();

        change("a", large("a", 1_000));
        advance(5);
        assertThat(phase("a")).isEqualTo("Running");
        assertThat(calls()).isEmpty();

        change(
                "a",
                large("a", 1_000)
                        .update("metadata", metadata -> metadata.with("deletionTimestamp", "2026-01-01T00:00:40Z")));
        advance(10);
        assertThat(pods).isEmpty();
    }

    /** A new agent meets the pods in any order: those that ran before keep their room. */
    @Test
    void shouldNotEndAPodThatRanBeforeTheAgentStarted() {
        room(large("z", 1_000));
        change("z", large("z", 1_000));
        start(110);
        advance(5);
        assertThat(phase("z")).isEqualTo("Running");

        JsonObject began = stored("z");
        pods.clear();
        pods.put("b", large("b", 1_000));
        pods.put("z", began);
        start(110);
        advance(5);

        assertThat(phase("z")).isEqualTo("Running");
        assertThat(phase("b")).isEqualTo("Failed");
    }

    @Test
    void shouldLeaveAQuarterOfTheRoomToOrdinaryPods() {
        podMemory = 4 * JsonMemory.of(large("a", 1_000));
        for (String name : List.of("a", "b", "c", "d")) {
            change(name, large(name, 950));
        }
        start(110);
        advance(5);
        add("small");
        advance(5);

        assertThat(List.of(phase("a"), phase("b"), phase("c"), phase("small"))).containsOnly("Running");
        assertThat(phase("d")).isEqualTo("Failed");
    }

    /** Running pods take most of the room: one that ends keeps its logs, and its volumes are removed. */
    @Test
    void shouldKeepAPodThatEndsWhileOthersTakeHalfOfTheRoom() {
        podMemory = 2 * JsonMemory.of(large("a", 1_000));
        change("a", large("a", 1_200));
        add("once", "", ", \"restartPolicy\": \"Never\", \"volumes\": [{\"name\": \"v\", \"emptyDir\": {}}]");
        start(110);
        advance(5);
        String id = containerStatus("once").text("containerID").replaceFirst(".*//", "");
        runtime.container(id, "uid-once", "app", ContainerState.EXITED);
        advance(5);
        assertThat(phase("once")).isEqualTo("Succeeded");

        overwrite("once", status -> status);
        advance(30);

        assertThat(manager().pods())
                .filteredOn(pod -> pod.name().equals("once"))
                .allSatisfy(pod -> assertThat(pod.container("app")).isPresent())
                .hasSize(1);
        assertThat(directory.resolve("root/pods/uid-once/volumes")).doesNotExist();
    }

    /** Thousands of pods that have ended may be in the API, whose last status must stay as it is. */
    @Test
    void shouldKeepLittleOfPodsThatHadEndedAndLeaveHalfOfTheRoomToOthers() {
        JsonObject once = pod("once")
                .update("spec", spec -> spec.with("restartPolicy", "Never").with("containers", Json.parse("""
                        [{"name": "app", "image": "app:1", "resources": {"requests": {"cpu": "1"}}}]""")));
        change("once", once);
        start(110);
        advance(5);
        runtime.container("made-2", "uid-once", "app", ContainerState.EXITED);
        advance(5);
        assertThat(phase("once")).isEqualTo("Succeeded");
        JsonObject status = stored("once").object("status");
        for (int i = 0; i < 1_000; i++) {
            JsonObject ended = large("ended-" + i, 100)
                    .with("status", Json.parse("{\"phase\": \"Failed\", \"startTime\": \"2026-01-01T00:00:00Z\"}"));
            pods.put("ended-" + i, ended);
        }
        podMemory = 4 * (JsonMemory.of(large("new", 1_000)) + 20_000);

        start(110);
        change("new", large("new", 1_000));
        advance(30);

        assertThat(phase("new")).isEqualTo("Running");
        assertThat(stored("once").object("status")).isEqualTo(status);
        delete("ended-999");
        delete("once");
        advance(10);
        assertThat(pods).doesNotContainKeys("ended-999", "once").containsKey("ended-0");
    }
}
