package io.nodekeeper.agent.culprit.scan;

/** Identifies a pod; the UID may be empty if only the name is known. Immutable. */
public record PodIdentity(String uid, String name, String namespace) {

    /** The usual form: namespace/name. */
    public String text() {
        return namespace + "/" + name;
    }
}
