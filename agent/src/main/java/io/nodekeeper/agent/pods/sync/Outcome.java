package io.nodekeeper.agent.pods.sync;

/** The outcome of a command. Immutable. */
public sealed interface Outcome {

    /** It succeeded. */
    record Done() implements Outcome {}

    /** It was given up, because something else is wanted: the next decision says what. */
    record GivenUp() implements Outcome {}

    /**
     * It failed.
     *
     * @param reason for the status of a container, such as {@code ErrImagePull}
     * @param message for people
     */
    record Failed(String reason, String message) implements Outcome {}
}
