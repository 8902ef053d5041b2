package io.nodekeeper.apiserver.request;

import java.util.List;

/** The destination of a streaming answer. Thread-safe; the writes of one thread keep their order. */
public interface StreamSink {

    /** Writes a part of the initially requested data, of any size. The bytes are not copied and must not be changed. */
    void writeFirst(byte[] bytes);

    /**
     * Writes a large part of the initially requested data, chunk by chunk as the reader takes it; later writes follow
     * it. This default writes all chunks immediately.
     */
    default void writeFirst(ResponseChunks chunks) {
        for (List<byte[]> chunk = chunks.next(); !chunk.isEmpty(); chunk = chunks.next()) {
            if (chunk != ResponseChunks.NOTHING_YET) {
                chunk.forEach(this::writeFirst);
            }
        }
    }

    /**
     * Runs {@code work}, which takes long, in the reader's turn and beside the threads that serve all; not if the reader has
     * disconnected by then. If it throws, the reader is disconnected. This default runs it immediately.
     */
    default void inTurn(Runnable work) {
        work.run();
    }

    /** Writes later data, as {@link #writeFirst}; a reader that leaves too much of it unread is disconnected. */
    void write(byte[] bytes);

    /** Writes several parts, in order, as {@link #write(byte[])} does. They reach the reader together if it reads fast enough. */
    default void write(List<byte[]> parts) {
        parts.forEach(this::write);
    }

    /** Ends the answer normally. */
    void end();

    /**
     * Runs {@code action} when the reader has disconnected or the answer has ended; immediately if that is already so.
     */
    void onClose(Runnable action);
}
