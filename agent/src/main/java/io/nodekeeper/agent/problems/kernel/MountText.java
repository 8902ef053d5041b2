package io.nodekeeper.agent.problems.kernel;

import java.io.IOException;

/** The text of a {@code mountinfo} file. */
public interface MountText {
    /** The text, which may be some seconds old; blocks. */
    String read() throws IOException;
}
