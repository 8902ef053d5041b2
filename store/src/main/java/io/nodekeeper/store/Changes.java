package io.nodekeeper.store;

import java.util.List;

/**
 * One page of the history of a prefix.
 *
 * @param events the changes, ordered by revision
 * @param through the page contains all changes up to this revision
 * @param more whether the history has later changes
 */
public record Changes(List<Event> events, long through, boolean more) {}
