package io.nodekeeper.agent.problems;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * Looks for one kind of problem. {@link #run} is called on a worker, never twice at the same time, and may block until
 * its deadline.
 */
public interface ProblemCheck {

    /** Its name in log lines and messages, such as {@code kernel log}. */
    String name();

    /** The conditions that it reports. They are Unknown while it fails. */
    List<String> conditions();

    /** The time between two runs. */
    Duration period();

    /** The longest run. */
    Duration deadline();

    /**
     * Looks for the problem.
     *
     * @throws IOException if it cannot tell whether there is one
     */
    Finding run() throws IOException;
}
