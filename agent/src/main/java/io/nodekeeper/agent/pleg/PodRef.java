package io.nodekeeper.agent.pleg;

/** Identifies a pod; {@code name} and {@code namespace} are empty while no sandbox of it was seen. Immutable. */
public record PodRef(String uid, String name, String namespace) {
    @Override
    public String toString() {
        return name.isEmpty() ? uid : namespace + "/" + name;
    }
}
