package io.nodekeeper.api;

import io.nodekeeper.api.json.JsonObject;

/** An object of any kind. */
public record KubeObject(JsonObject json) implements ApiObject {}
