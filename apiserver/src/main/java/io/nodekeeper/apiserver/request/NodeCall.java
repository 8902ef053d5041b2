package io.nodekeeper.apiserver.request;

import java.util.Map;
import java.util.Optional;

/**
 * A request to a node's API that answers a request to this server. Immutable.
 *
 * @param host the node's address, never a name
 * @param target path and query, encoded
 * @param upgrade whether it changes the protocol to one of streams, which then pass through this server
 * @param verified whether the node's certificate is checked, if the server has authorities for that
 * @param user the {@linkplain User#flow flow} of who sends the request; each has a share of the open ones
 * @param passed what of the client's request is passed on; then the node's answer is the client's, errors included. Empty
 *     if the server translates both
 */
public record NodeCall(
        String host, int port, String target, boolean upgrade, boolean verified, String user, Optional<Passed> passed) {

    /**
     * A header of every request to a node. This server refuses requests that have it: a node whose address is that of an API
     * server must not get requests with this server's identity answered.
     */
    public static final String RELAYED = "x-nodekeeper-relayed";

    /** What is passed on besides the method; the body must not be changed. */
    public record Passed(Map<String, String> headers, byte[] body) {
        /** Keeps a copy of the headers. */
        public Passed {
            headers = Map.copyOf(headers);
        }
    }

    /** A request of the server's own words. */
    public NodeCall(String host, int port, String target, boolean upgrade, boolean verified, String user) {
        this(host, port, target, upgrade, verified, user, Optional.empty());
    }
}
