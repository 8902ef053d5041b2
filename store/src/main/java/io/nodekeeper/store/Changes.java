package io.nodekeeper.store;

import java.util.List;

/**
 * A part of the history.
 *
 * @param events the changes, in the order of revisions
 * @param through the revision up to which these are all the changes
 * @param more whether there are later ones
 */
public record Changes(List<Event> events, long through, boolean more) {}
