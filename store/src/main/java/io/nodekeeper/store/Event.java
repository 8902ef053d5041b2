package io.nodekeeper.store;

import java.util.Optional;

/**
 * One change of one object. Each change in a journal has its own revision; in etcd the changes of one transaction share one.
 * All resources share one sequence of revisions.
 *
 * @param revision the revision of the change; 1 or more
 * @param key the storage key of the object
 * @param before the object before the change; empty for a creation
 * @param after the object after it; empty for a deletion
 */
public record Event(long revision, String key, Optional<Entry> before, Optional<Entry> after) {}
