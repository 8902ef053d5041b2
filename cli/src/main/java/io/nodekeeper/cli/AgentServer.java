package io.nodekeeper.cli;

import io.nodekeeper.agent.Agent;
import io.nodekeeper.agent.config.ServingConfig;
import io.nodekeeper.agent.health.LoopMonitor;
import io.nodekeeper.agent.metrics.AgentMetrics;
import io.nodekeeper.agent.pages.AgentPages;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** An agent's pages on its port. */
record AgentServer(DebugServer server, ThreadLoop timer) {

    /** Starts to serve, if pages are wanted. */
    static Optional<AgentServer> start(
            ServingConfig serving,
            Loop loop,
            LoopMonitor loops,
            AgentMetrics metrics,
            Agent agent,
            Optional<NodeRuntime> runtime)
            throws IOException {
        if (serving.address().isEmpty()) {
            return Optional.empty();
        }
        Map<String, Supplier<Optional<String>>> health = new LinkedHashMap<>();
        health.put("ping", Optional::empty);
        loops.silences().keySet().stream().sorted().forEach(name -> health.put(name, () -> loops.failure(name)));
        Map<String, Supplier<Optional<String>>> readiness = new LinkedHashMap<>();
        readiness.put(
                "registered",
                () -> agent.registered().isDone() ? Optional.empty() : Optional.of("the node is not in the API yet"));
        runtime.ifPresent(watched -> readiness.put("runtime", () -> {
            List<String> errors = watched.watch().errors().inOrder();
            return errors.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", errors));
        }));
        ThreadLoop timer = new ThreadLoop("agent-pages");
        AgentPages pages = new AgentPages(health, readiness, metrics::scrape, loop, timer);
        runtime.ifPresent(watched -> pages.with("/debug/runtime", watched::page));
        return Optional.of(new AgentServer(
                DebugServer.start("agent", "--healthz-port", serving.address().get(), serving.orElseAny(), pages),
                timer));
    }

    void stop() {
        server.stop();
        timer.close();
    }
}
