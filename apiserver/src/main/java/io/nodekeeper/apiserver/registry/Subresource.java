package io.nodekeeper.apiserver.registry;

import java.util.List;

/**
 * A subresource, such as {@code pods/eviction}. Immutable.
 *
 * @param name the last part of the path
 * @param group the group of the exchanged kind; empty, as is {@code version}, for the resource's own
 * @param version the version of the exchanged kind
 * @param kind the exchanged kind
 * @param verbs the supported verbs
 */
public record Subresource(String name, String group, String version, String kind, List<String> verbs) {

    /** The status subresource of {@code kind}. */
    public static Subresource status(String kind) {
        return new Subresource("status", "", "", kind, List.of("get", "patch", "update"));
    }

    /** A subresource of streams of the core group, with its options' kind. */
    public static Subresource stream(String name, String kind) {
        return new Subresource(name, "", "", kind, List.of("create", "get"));
    }

    /** A subresource that only accepts a POST of a kind of another group. */
    public static Subresource action(String name, String group, String version, String kind) {
        return new Subresource(name, group, version, kind, List.of("create"));
    }
}
