package io.nodekeeper.agent.culprit.scan;

/** Which pod; the UID may be empty where only the name is known. Immutable. */
public record PodIdentity(String uid, String name, String namespace) {

    /** As people write it: namespace/name. */
    public String text() {
        return namespace + "/" + name;
    }
}
