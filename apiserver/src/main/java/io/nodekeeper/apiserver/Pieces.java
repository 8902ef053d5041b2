package io.nodekeeper.apiserver;

import java.util.List;

/**
 * A large part of an answer, made piece by piece as its reader takes it. A reader that is slow holds on to what the pieces
 * are made of, not to their bytes. Used by one thread at a time.
 */
public interface Pieces {
    /** About how many bytes a piece has; one object more at most. Four TLS records. */
    int SIZE = 64 << 10;

    /**
     * The next piece, in parts that are not to be changed; empty at the end. May read the disk.
     *
     * @throws RuntimeException if the answer cannot go on
     */
    List<byte[]> next();

    /** Bytes of memory that what is still to come may hold, the pieces themselves aside. */
    long held();
}
