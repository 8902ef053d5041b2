package io.nodekeeper.cli.command;

/** Runs a process once its flags are known to be good. */
@FunctionalInterface
public interface Launcher<C> {

    /**
     * Starts what {@code command} asks for, and returns when it is over.
     *
     * @return the exit code: 0 if all went well
     * @throws Exception with a message for people; it becomes exit code 1
     */
    int launch(C command) throws Exception;
}
