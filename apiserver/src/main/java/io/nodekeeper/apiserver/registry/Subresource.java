package io.nodekeeper.apiserver.registry;

import java.util.List;

/**
 * What is below an object's path, as {@code pods/eviction}. Immutable.
 *
 * @param name the last part of the path
 * @param group the group of the kind that is exchanged there; with {@code version} empty for the resource's own
 * @param version the version of that kind
 * @param kind what is exchanged there
 * @param verbs what can be done
 */
public record Subresource(String name, String group, String version, String kind, List<String> verbs) {

    /** The part of an object of {@code kind} that its keeper reports. */
    public static Subresource status(String kind) {
        return new Subresource("status", "", "", kind, List.of("get", "patch", "update"));
    }

    /** What is only asked for, by a POST of a kind of another group. */
    public static Subresource action(String name, String group, String version, String kind) {
        return new Subresource(name, group, version, kind, List.of("create"));
    }
}
