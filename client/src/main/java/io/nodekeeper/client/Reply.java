package io.nodekeeper.client;

/**
 * The answer to a {@link Call}.
 *
 * @param status the HTTP status
 * @param body the answer's body, whole; not to be changed
 */
public record Reply(int status, byte[] body) {}
