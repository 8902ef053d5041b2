package io.nodekeeper.agent.problems.kernel;

import java.io.IOException;
import java.util.List;

/** A log of the kernel. */
public interface LogSource {
    /** The next records, {@code most} at most; does not wait for one. */
    List<KmsgRecord> read(int most) throws IOException;

    /** How often records were overwritten before they were read. */
    long lost();
}
