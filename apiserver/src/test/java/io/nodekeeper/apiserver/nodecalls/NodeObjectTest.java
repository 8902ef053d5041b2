package io.nodekeeper.apiserver.nodecalls;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class NodeObjectTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-30T22:00:00Z"));
    private final IndexedStore store = new IndexedStore(time.loop("store"), Journal.NONE);
    private final List<Runnable> turns = new ArrayList<>();

    private CompletableFuture<JsonObject> read(int size) {
        JsonObject node = JsonObject.builder()
                .put("metadata", JsonObject.EMPTY.with("name", "n1"))
                .put("filler", "x".repeat(size))
                .build();
        store.put(Resources.NODES.key("", "n1"), Json.writeBytes(node), 0);
        time.advance(Duration.ofMillis(1));
        return NodeObject.read(store, "n1", turns::add);
    }

    @Test
    void smallNodeIsReadAtOnce() {
        assertThat(read(1_000)).isDone();
        assertThat(turns).isEmpty();
    }

    @Test
    void largeNodeIsReadInTheTurnOfItsUser() {
        CompletableFuture<JsonObject> node = read(1_400_000);
        assertThat(node).isNotDone();

        turns.forEach(Runnable::run);

        assertThat(node.join().object("metadata").text("name")).isEqualTo("n1");
    }
}
