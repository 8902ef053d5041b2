package io.nodekeeper.api;

/** An object of any kind. */
public record KubeObject(JsonObject json) implements ApiObject {}
