package io.nodekeeper.cli.nodeapi;

import io.netty.channel.Channel;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The connections to the node's API. Those with a log or a stream have places of their own, so clients without credentials
 * cannot push them out; of the others the one with the oldest answer is closed when there are too many. Confined to the
 * event loop.
 */
final class Connections {
    /** The most connections that send requests, with at most 20 KiB each. */
    static final int REQUESTS = 256;
    /** The most logs and streams: twice as many as a node has pods. Each needs some 200 KB at most. */
    static final int STREAMS = 220;

    /** The one with the oldest answer first. */
    private final Set<Channel> requests = new LinkedHashSet<>();

    private final Set<Channel> streams = new LinkedHashSet<>();

    void opened(Channel connection) {
        if (requests.size() >= REQUESTS) {
            Channel oldest = requests.iterator().next();
            requests.remove(oldest);
            oldest.close();
        }
        requests.add(connection);
        connection.closeFuture().addListener(closed -> {
            requests.remove(connection);
            streams.remove(connection);
        });
    }

    /** A client that receives its answer counts as new. */
    void answered(Channel connection) {
        if (requests.remove(connection)) {
            requests.add(connection);
        }
    }

    /** Takes a place for a log or a stream; false if there is none. It is given back when the connection is closed. */
    boolean begin(Channel connection) {
        if (streams.size() >= STREAMS || !connection.isActive()) {
            return false;
        }
        requests.remove(connection);
        return streams.add(connection);
    }

    /** The number of connections that send requests. */
    int requests() {
        return requests.size();
    }
}
