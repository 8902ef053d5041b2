package io.nodekeeper.it;

/**
 * What a watch told of.
 *
 * @param type ADDED, MODIFIED or DELETED
 * @param key which object
 * @param revision its resource version
 * @param value what it holds; for a deletion what it held last
 */
record WatchedEvent(String type, String key, long revision, String value) {}
