package io.nodekeeper.apiserver.request;

import java.util.List;

/** Where a long answer is written to. Thread-safe; what one thread writes goes out in its order. */
public interface StreamSink {

    /**
     * Writes part of what the reader asked for to begin with, however much that is. The bytes are not copied and must not
     * be changed.
     */
    void writeFirst(byte[] bytes);

    /**
     * Writes a large part of what the reader asked for, piece by piece as it is taken. What is written after it follows it.
     * This default writes all pieces at once.
     */
    default void writeFirst(ResponseChunks chunks) {
        for (List<byte[]> chunk = chunks.next(); !chunk.isEmpty(); chunk = chunks.next()) {
            if (chunk != ResponseChunks.NOTHING_YET) {
                chunk.forEach(this::writeFirst);
            }
        }
    }

    /** Writes news, as {@link #writeFirst}; a reader that leaves too much of them unread is cut off. */
    void write(byte[] bytes);

    /** Ends the answer as agreed. */
    void end();

    /** Runs {@code action} once the reader is gone or the answer has ended; at once if so already. */
    void onClose(Runnable action);
}
