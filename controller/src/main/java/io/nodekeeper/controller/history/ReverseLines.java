package io.nodekeeper.controller.history;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * Reads a file of lines from its end to its beginning, a block of whole lines at a time. Another process may append to
 * the file. Not thread-safe.
 */
final class ReverseLines implements AutoCloseable {
    /** The size of a block: large enough for a disk, and read in a few milliseconds. */
    private static final int BLOCK = 256 << 10;
    /** The longest line: a decision has some KB, so a longer line is damage. Its end is dropped. */
    private static final int LONGEST = 1 << 20;

    private final Path file;
    private final FileChannel channel;
    /** The position before which nothing has been read yet. */
    private long position;
    /** The end of a line that begins before {@link #position}. */
    private byte[] rest = new byte[0];

    private long start;

    ReverseLines(Path file) throws IOException {
        this.file = file;
        channel = FileChannel.open(file, StandardOpenOption.READ);
        position = channel.size();
    }

    /**
     * The lines before those of the last call, each with its line feed; empty at the beginning of the file. The last
     * line of a block has no line feed if it is torn or too long.
     */
    byte[] previous() throws IOException {
        while (position > 0) {
            byte[] block = block();
            int first = position == 0 ? 0 : afterFirstLine(block);
            rest = Arrays.copyOf(block, Math.min(first, LONGEST));
            start = position + first;
            if (first < block.length) {
                return Arrays.copyOfRange(block, first, block.length);
            }
        }
        return new byte[0];
    }

    /** Where the last block begins in the file, in bytes. */
    long start() {
        return start;
    }

    /** The next bytes towards the beginning, and the rest of the last block. */
    private byte[] block() throws IOException {
        int length = (int) Math.min(BLOCK, position);
        position -= length;
        byte[] block = new byte[length + rest.length];
        ByteBuffer buffer = ByteBuffer.wrap(block, 0, length);
        while (buffer.hasRemaining()) {
            if (channel.read(buffer, position + buffer.position()) < 0) {
                throw new IOException(file + " became shorter while it was read");
            }
        }
        System.arraycopy(rest, 0, block, length, rest.length);
        return block;
    }

    private static int afterFirstLine(byte[] block) {
        for (int i = 0; i < block.length; i++) {
            if (block[i] == '\n') {
                return i + 1;
            }
        }
        return block.length;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
