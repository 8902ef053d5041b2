package io.nodekeeper.agent.nodeapi;

import io.nodekeeper.agent.logs.LogOptions;
import io.nodekeeper.cri.RuntimeCall;
import java.util.List;

/** What a request to the node's API asks for. Immutable. */
public sealed interface Asked {
    /** A page that the agent has at another port, too. */
    record OfPage(String path) implements Asked {}

    /** The pods that are bound to the node. */
    record Pods() implements Asked {}

    /**
     * The log of a container.
     *
     * @param previous whether that of the attempt before is wanted
     */
    record Log(String namespace, String pod, String container, boolean previous, LogOptions options) implements Asked {}

    /** To run a command in a container. {@code uid} is empty for any. */
    record Exec(
            String namespace,
            String pod,
            String uid,
            String container,
            List<String> command,
            RuntimeCall.Streams streams)
            implements Asked {
        /** Keeps a copy. */
        public Exec {
            command = List.copyOf(command);
        }
    }

    /** To be connected to a container's first process. {@code uid} is empty for any. */
    record Attach(String namespace, String pod, String uid, String container, RuntimeCall.Streams streams)
            implements Asked {}

    /** To reach the ports of a pod. {@code uid} is empty for any. */
    record PortForward(String namespace, String pod, String uid, List<Integer> ports) implements Asked {
        /** Keeps a copy. */
        public PortForward {
            ports = List.copyOf(ports);
        }
    }

    /** Nothing that there is. */
    record Nothing(int status, String why) implements Asked {}
}
