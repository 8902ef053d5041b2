package io.nodekeeper.agent.heartbeat;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.FakeCluster;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.Selection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NodeCacheTest {

    @Test
    void followsOneNode() {
        FakeCluster cluster = new FakeCluster();
        JsonObject list = Json.parseObject("{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[]}");
        cluster.transport.answer(call -> Optional.of(FakeTransport.reply(200, list)));
        NodeCache cache = new NodeCache(cluster.client, Selection.named(ResourceType.NODES, "n1"), cluster.random);
        cache.start();
        cluster.advance(Duration.ZERO);
        assertThat(cluster.log()).containsExactly("GET /api/v1/nodes?fieldSelector=metadata.name%3Dn1&limit=500");
        assertThat(cache.node("n1")).isEmpty();

        JsonObject node = Json.parseObject("{\"metadata\":{\"name\":\"n1\",\"resourceVersion\":\"6\"}}");
        cluster.transport.watches().getFirst().event("ADDED", node);
        cluster.advance(Duration.ZERO);
        assertThat(cache.node("n1").orElseThrow().json()).isEqualTo(node);

        List<String> heard = new ArrayList<>();
        cache.listen("n1", seen -> heard.add(seen.resourceVersion()));
        cluster.transport
                .watches()
                .getFirst()
                .event("MODIFIED", Json.parseObject("{\"metadata\":{\"name\":\"n1\",\"resourceVersion\":\"7\"}}"));
        cluster.advance(Duration.ZERO);
        assertThat(heard).containsExactly("7");

        cluster.transport.watches().getFirst().event("DELETED", node);
        cluster.advance(Duration.ZERO);
        assertThat(cache.node("n1")).isEmpty();
    }
}
