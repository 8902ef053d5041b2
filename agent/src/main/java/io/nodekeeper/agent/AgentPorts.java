package io.nodekeeper.agent;

import io.nodekeeper.agent.heartbeat.NodeSource;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.time.Loop;
import java.util.random.RandomGenerator;

/**
 * The collaborators of an agent. Any number of agents on the same loop may share them.
 *
 * @param registration the client for registration
 * @param heartbeats for status and lease; its deadline is the smaller of update frequency and lease duration (10 s), its
 *     results come on {@code loop}
 * @param loop runs the agent
 * @param nodes a cache that contains the agent's Node
 * @param events records events
 * @param random for jitter
 * @param version {@code kubeletVersion}
 * @param onRepeatedFailure called when heartbeats fail repeatedly, to close connections that may be dead
 */
public record AgentPorts(
        KubeClient registration,
        KubeClient heartbeats,
        Loop loop,
        NodeSource nodes,
        EventRecorder events,
        RandomGenerator random,
        String version,
        Runnable onRepeatedFailure) {}
