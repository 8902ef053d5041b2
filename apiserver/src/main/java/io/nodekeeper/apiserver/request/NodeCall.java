package io.nodekeeper.apiserver.request;

/**
 * A request to a node's API that answers a request to this server. Immutable.
 *
 * @param host the node's address, never a name
 * @param target path and query, encoded
 * @param upgrade whether it changes the protocol to one of streams, which then pass through this server
 * @param verified whether the node's certificate is checked, if the server has authorities for that
 * @param user who sends the request; each has a share of the open ones
 */
public record NodeCall(String host, int port, String target, boolean upgrade, boolean verified, String user) {}
