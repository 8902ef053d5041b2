package io.nodekeeper.apiserver.request;

import java.util.List;
import java.util.Optional;

/**
 * A large part of an answer, produced chunk by chunk as its reader takes it. A slow reader keeps the sources of the
 * chunks in memory, not their bytes. Used by one thread at a time.
 */
public interface ResponseChunks {
    /** About how many bytes a chunk has, plus one object at most: four TLS records. */
    int SIZE = 64 << 10;

    /**
     * About how many bytes of stored objects are read for one chunk at most: some 10 ms of work, after which others have
     * their turn.
     */
    int EXAMINED = 1 << 20;

    /** A chunk without bytes: none of the examined objects is selected, and more chunks follow. */
    List<byte[]> NOTHING_YET = List.of(new byte[0]);

    /**
     * The next chunk, in parts that must not be changed; empty at the end, {@link #NOTHING_YET} for no bytes. May read
     * the disk.
     *
     * @throws RuntimeException if the answer cannot continue
     */
    List<byte[]> next();

    /** The same answer in protobuf, if that form exists; the two are read independently. */
    default Optional<ResponseChunks> inProtobuf() {
        return Optional.empty();
    }

    /** The bytes of memory that the remaining chunks may need, without the chunks themselves. */
    long held();
}
