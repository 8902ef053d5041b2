package io.nodekeeper.cli.hollow;

import io.nodekeeper.agent.HollowNodes;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.client.config.ServerAccess;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** The process of running hollow nodes. */
public record HollowProcess(HollowNodes nodes) {

    /** Starts the nodes and prints progress to {@code out}. */
    public static HollowProcess start(ServerAccess access, HollowOptions options, PrintWriter out) {
        List<AgentConfig> configs = new ArrayList<>();
        for (int number = 0; number < options.count; number++) {
            AgentConfigBuilder config = new AgentConfigBuilder(options.prefix + number);
            options.heartbeat.configure(config);
            configs.add(config.build());
        }
        HollowNodes nodes = new HollowNodes(access, configs, registered -> report(registered, options.count, out));
        nodes.start();
        return new HollowProcess(nodes);
    }

    private static void report(int registered, int count, PrintWriter out) {
        if (registered == count) {
            out.println("ready " + registered + " hollow nodes registered");
        } else if (registered % 1_000 == 0) {
            out.println(registered + " of " + count + " hollow nodes registered");
        }
    }

    public void stop() {
        nodes.stop();
    }
}
