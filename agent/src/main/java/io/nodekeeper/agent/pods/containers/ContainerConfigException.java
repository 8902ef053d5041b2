package io.nodekeeper.agent.pods.containers;

/** What a pod says about a container cannot be carried out; the message names what is missing or wrong. */
public final class ContainerConfigException extends RuntimeException {

    /** A container that cannot be configured because of {@code message}. */
    public ContainerConfigException(String message) {
        super(message);
    }
}
