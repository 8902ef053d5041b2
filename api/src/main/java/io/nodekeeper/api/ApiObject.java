package io.nodekeeper.api;

import io.nodekeeper.api.json.JsonObject;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** A typed view of an API object's JSON, which keeps every field, known or unknown. Immutable. */
public interface ApiObject {

    /** The whole object. */
    JsonObject json();

    /** {@code metadata}. */
    default JsonObject metadata() {
        return json().object("metadata");
    }

    /** {@code metadata.name}; empty if absent. */
    default String name() {
        return metadata().text("name");
    }

    /** {@code metadata.namespace}; empty if absent. */
    default String namespace() {
        return metadata().text("namespace");
    }

    /** {@code metadata.uid}; empty if absent. */
    default String uid() {
        return metadata().text("uid");
    }

    /** {@code metadata.resourceVersion}; empty if absent. */
    default String resourceVersion() {
        return metadata().text("resourceVersion");
    }

    /** {@code metadata.labels}. */
    default Map<String, String> labels() {
        return metadata().object("labels").texts();
    }

    /** {@code metadata.annotations}. */
    default Map<String, String> annotations() {
        return metadata().object("annotations").texts();
    }

    /** {@code metadata.creationTimestamp}, if it is a time. */
    default Optional<Instant> creationTimestamp() {
        return KubeTime.parse(metadata().text("creationTimestamp"));
    }

    /** {@code spec}. */
    default JsonObject spec() {
        return json().object("spec");
    }

    /** {@code status}. */
    default JsonObject status() {
        return json().object("status");
    }
}
