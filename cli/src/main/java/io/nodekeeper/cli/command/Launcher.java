package io.nodekeeper.cli.command;

/** Runs a command whose flags have been checked. */
@FunctionalInterface
public interface Launcher<C> {

    /**
     * Runs {@code command}, and returns when it has ended.
     *
     * @return the exit code: 0 for success
     * @throws Exception with a message for users; the exit code is 1 then
     */
    int launch(C command) throws Exception;
}
