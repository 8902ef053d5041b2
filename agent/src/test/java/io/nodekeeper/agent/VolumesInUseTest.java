package io.nodekeeper.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.facts.NodeStorage;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What volumes add to the node's status, and what they hear of it. */
class VolumesInUseTest {
    private final FakeCluster cluster = new FakeCluster();
    private final Volumes volumes = new Volumes();
    private final Agent agent = Agent.withoutRuntime(Fixtures.config(), cluster.ports(), new MeasuredHost());

    private static final class Volumes implements NodeStorage {
        private Optional<List<String>> inUse = Optional.empty();
        private List<String> reported = List.of("nothing yet");
        private List<String> errors = List.of();
        private String uid = "";

        @Override
        public Optional<List<String>> volumesInUse() {
            return inUse;
        }

        @Override
        public void reported(List<String> names) {
            reported = names;
        }

        @Override
        public void registered(String now) {
            uid = now;
        }

        @Override
        public List<String> errors() {
            return errors;
        }
    }

    @ParameterizedTest
    @Tag("A106")
    @CsvSource(
            delimiter = '|',
            nullValues = "none",
            value = {
                "none | none | none",
                "vol1 | vol1 | none",
                "vol1 | none | {\"volumesInUse\":null}",
                "none | vol1 | {\"volumesInUse\":[\"vol1\"]}"
            })
    void theNodeShowsWhatIsInUseAndTheVolumesHearOfIt(
            @Nullable String node, @Nullable String manager, @Nullable String patch) {
        given(node);
        volumes.inUse = Optional.of(list(manager));
        cluster.transport.clear();

        cluster.advance(Duration.ofSeconds(11));

        JsonObject sent = cluster.transport.calls().stream()
                .filter(call -> call.toString().equals("PATCH " + FakeCluster.STATUS))
                .map(call -> Json.parseObject(call.body())
                        .object("status")
                        .without("conditions")
                        .without("$setElementOrder/conditions"))
                .findFirst()
                .orElse(JsonObject.EMPTY);
        assertThat(sent).isEqualTo(patch == null ? JsonObject.EMPTY : Json.parseObject(patch));
        assertThat(stored()).isEqualTo(list(manager));
        assertThat(volumes.reported).isEqualTo(list(manager));
    }

    @Test
    @Tag("A106")
    void untilTheVolumesAreKnownTheStoredListSurvivesAPatch() {
        given("vol1");
        cluster.show(new Node(cluster.node
                .orElseThrow()
                .json()
                .update("status", status -> status.update("nodeInfo", info -> info.with("kernelVersion", "old")))));
        cluster.transport.clear();

        cluster.advance(Duration.ofSeconds(11));

        assertThat(cluster.count("PATCH " + FakeCluster.STATUS)).isEqualTo(1);
        assertThat(stored()).containsExactly("vol1");
    }

    @Test
    void theVolumesHearThatTheNodeWasRegisteredAgain() {
        // given a registered node
        given(null);
        cluster.advance(Duration.ofSeconds(11));
        assertThat(volumes.uid).isEqualTo("uid-1");

        // when it is deleted while its agent runs
        cluster.node = Optional.empty();
        cluster.advance(Duration.ofSeconds(20));

        // then they get the UID of the new one
        assertThat(volumes.uid).isEqualTo("uid-2");
    }

    @Test
    @Tag("A57")
    void aNodeWithoutItsCsiNodeIsNotReady() {
        volumes.errors = List.of("CSINode is not yet initialized");
        agent.storage(volumes);
        agent.start();
        cluster.advance(Duration.ofSeconds(1));

        Condition ready = Fixtures.condition(cluster.node.orElseThrow(), "Ready");
        assertThat(ready.status()).isEqualTo("False");
        assertThat(ready.message()).isEqualTo("CSINode is not yet initialized");

        volumes.errors = List.of();
        agent.reportNow();
        cluster.advance(Duration.ofSeconds(1));

        assertThat(Fixtures.condition(cluster.node.orElseThrow(), "Ready").status())
                .isEqualTo("True");
    }

    /** A registered node with that list, and an agent that has reported. */
    private void given(@Nullable String names) {
        agent.storage(volumes);
        agent.start();
        cluster.advance(Duration.ofSeconds(1));
        JsonObject json = cluster.node.orElseThrow().json();
        if (names != null) {
            json = json.update("status", status -> status.with("volumesInUse", JsonArray.ofStrings(list(names))));
        }
        cluster.show(new Node(json));
    }

    private List<String> stored() {
        return cluster.node
                .orElseThrow()
                .status()
                .array("volumesInUse")
                .strings()
                .toList();
    }

    private static List<String> list(@Nullable String names) {
        return names == null ? List.of() : List.of(names);
    }
}
