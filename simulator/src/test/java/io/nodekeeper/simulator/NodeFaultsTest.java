package io.nodekeeper.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.simulator.cluster.ClusterSetup;
import io.nodekeeper.simulator.cluster.SimCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class NodeFaultsTest {
    /** Draws a fault each minute, which is the replacement of a dead node's object. */
    private static final RandomGenerator REPLACEMENTS = new RandomGenerator() {
        @Override
        public long nextLong() {
            return 0;
        }

        @Override
        public int nextInt(int bound) {
            return bound == 10 ? 5 : 0;
        }

        @Override
        public double nextDouble() {
            return 0.5;
        }

        @Override
        public double nextExponential() {
            return 1;
        }
    };

    @Test
    void eachNodeThatIsReplacedByHandExistsAgainBeforeItsAgentStarts() {
        // given a node that is replaced again and again
        List<String> replacements = new ArrayList<>();
        SimCluster cluster = new SimCluster(ClusterSetup.of(1, 3), line -> {
            if (line.contains("by hand")) {
                replacements.add(line);
            }
        });
        KubeClient admin = cluster.admin();
        new NodeFaults(cluster, new RandomRunOptions(1, Duration.ofHours(3), 3, 60, 0), REPLACEMENTS, admin).next();

        // when it is read within two seconds of each replacement, while its agent is down
        List<String> uids = new ArrayList<>();
        for (int second = 0; second < 10_000 && uids.size() < 20; second++) {
            cluster.run(Duration.ofSeconds(1));
            if (replacements.size() > uids.size()) {
                CompletableFuture<JsonObject> node = admin.get(ResourceType.NODES, "", "n0");
                cluster.run(Duration.ofSeconds(1));
                assertThat(node).as(replacements.getLast()).isCompleted();
                uids.add(node.join().object("metadata").text("uid"));
            }
        }

        // then it is there each time, and another one
        assertThat(uids).hasSize(20).doesNotHaveDuplicates();
    }
}
