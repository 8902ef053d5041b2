package io.nodekeeper.client;

/**
 * The answer to a {@link Call}.
 *
 * @param status the HTTP status
 * @param body the complete body; must not be changed
 */
public record Reply(int status, byte[] body) {}
