package io.nodekeeper.cli.apiserver;

import io.nodekeeper.client.files.OwnerOnly;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * The lock of a data directory, {@code DATA/pki/.lock}, which a server holds while it runs. A second server must be refused before
 * it writes certificates for its own names in the place of those that the first one shows. The file has the process ID of the
 * holder. The lock ends with the process. Not thread-safe.
 */
final class DataLock implements AutoCloseable {
    private static final int PID_BYTES = 20;

    private final FileChannel channel;

    private DataLock(FileChannel channel) {
        this.channel = channel;
    }

    /**
     * Locks {@code data}, and creates its directory {@code pki} if it is absent.
     *
     * @throws IOException if another server holds the lock; the message names its process
     */
    static DataLock take(Path data) throws IOException {
        Path file = OwnerOnly.directory(data.resolve("pki")).resolve(".lock");
        FileChannel channel = FileChannel.open(
                file,
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
                OwnerOnly.FILE);
        try {
            if (!isLocked(channel)) {
                throw new IOException("the data directory " + data + " is in use by " + holder(channel)
                        + "; stop that, or use another --data-dir");
            }
            channel.truncate(0);
            channel.write(
                    ByteBuffer.wrap(Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII)),
                    0);
            return new DataLock(channel);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    private static boolean isLocked(FileChannel channel) throws IOException {
        try {
            FileLock lock = channel.tryLock();
            return lock != null;
        } catch (OverlappingFileLockException e) {
            // This process holds it.
            return false;
        }
    }

    private static String holder(FileChannel channel) throws IOException {
        ByteBuffer pid = ByteBuffer.allocate(PID_BYTES);
        channel.read(pid, 0);
        String text = new String(pid.array(), 0, pid.position(), StandardCharsets.US_ASCII);
        return text.matches("[0-9]+") ? "process " + text : "another process";
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
