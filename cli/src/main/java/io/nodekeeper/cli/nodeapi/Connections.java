package io.nodekeeper.cli.nodeapi;

import io.netty.channel.Channel;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * The connections to the node's API. Those with a log or a stream have places of their own, so clients without credentials
 * cannot push them out; of the others the one with the oldest answer is closed when there are too many. A pod has at most half as many
 * places as are free, so that who reads the logs of one pod leaves places for others. Confined to the event loop.
 */
final class Connections {
    /** The most connections that send requests, with at most 20 KiB each. */
    static final int REQUESTS = 256;
    /** The most logs and streams: twice as many as a node has pods. Each needs some 200 KB at most. */
    static final int STREAMS = 220;

    /** The one with the oldest answer first. */
    private final Set<Channel> requests = new LinkedHashSet<>();

    /** Connection → UID of the pod; at most {@link #STREAMS}. */
    private final Map<Channel, String> streams = new HashMap<>();
    /** UID → its places, of pods that have any. */
    private final Map<String, Integer> ofPod = new HashMap<>();

    void opened(Channel connection) {
        if (requests.size() >= REQUESTS) {
            Channel oldest = requests.iterator().next();
            requests.remove(oldest);
            oldest.close();
        }
        requests.add(connection);
        connection.closeFuture().addListener(closed -> {
            requests.remove(connection);
            String pod = streams.remove(connection);
            if (pod != null) {
                ofPod.computeIfPresent(pod, (uid, had) -> had > 1 ? had - 1 : null);
            }
        });
    }

    /** A client that receives its answer counts as new. */
    void answered(Channel connection) {
        if (requests.remove(connection)) {
            requests.add(connection);
        }
    }

    /** Takes a place for a log or a stream of {@code pod}; false if it gets none. It is given back when the connection is closed. */
    boolean begin(Channel connection, String pod) {
        int has = ofPod.getOrDefault(pod, 0);
        if (has >= (STREAMS - streams.size()) / 2 || !connection.isActive()) {
            return false;
        }
        requests.remove(connection);
        streams.put(connection, pod);
        ofPod.put(pod, has + 1);
        return true;
    }

    /** The number of connections that send requests. */
    int requests() {
        return requests.size();
    }
}
