package io.nodekeeper.apiserver.request;

import java.util.List;
import java.util.Optional;

/**
 * A large part of an answer, made piece by piece as its reader takes it. A reader that is slow holds on to what the pieces
 * are made of, not to their bytes. Used by one thread at a time.
 */
public interface ResponseChunks {
    /** About how many bytes a piece has; one object more at most. Four TLS records. */
    int SIZE = 64 << 10;

    /**
     * About how many bytes of stored objects are read for one piece at most: some 10 ms of work, after which others have
     * their turn.
     */
    int EXAMINED = 1 << 20;

    /** A piece without bytes: what was examined for it is not selected, and more follows. */
    List<byte[]> NOTHING_YET = List.of(new byte[0]);

    /**
     * The next piece, in parts that are not to be changed; empty at the end, {@link #NOTHING_YET} for no bytes. May read the
     * disk.
     *
     * @throws RuntimeException if the answer cannot go on
     */
    List<byte[]> next();

    /** The same answer in protobuf, if it can be given in that form; what is taken of one is not taken of the other. */
    default Optional<ResponseChunks> inProtobuf() {
        return Optional.empty();
    }

    /** Bytes of memory that what is still to come may hold, the pieces themselves aside. */
    long held();
}
