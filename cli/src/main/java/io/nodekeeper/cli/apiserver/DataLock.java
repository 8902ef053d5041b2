package io.nodekeeper.cli.apiserver;

import io.nodekeeper.client.files.OwnerOnly;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The lock of a data directory, {@code DATA/pki/.lock}, which a server holds while it runs. A second server must be refused before
 * it writes certificates for its own names in the place of those that the first one shows. The file has the process ID of the
 * holder. The lock ends with the process. Not thread-safe.
 */
final class DataLock implements AutoCloseable {
    private static final int PID_BYTES = 20;

    /**
     * What this process has locked, by the real path. POSIX releases a process's lock when the process closes any descriptor of
     * the file, so a locked file is never opened again. Bound: the servers of this process.
     */
    private static final Set<Path> LOCKED = ConcurrentHashMap.newKeySet();

    private final Path file;
    private final Optional<FileChannel> channel;

    private DataLock(Path file, Optional<FileChannel> channel) {
        this.file = file;
        this.channel = channel;
    }

    /**
     * Locks {@code data}, and creates its directory {@code pki} if it is absent. A directory that this process cannot write is not
     * locked: a second server cannot change its certificates either.
     *
     * @throws IOException if another server holds the lock; the message names its process
     */
    static DataLock take(Path data) throws IOException {
        Path pki = OwnerOnly.directory(data.resolve("pki"));
        Path file = pki.toRealPath().resolve(".lock");
        if (!Files.isWritable(pki)) {
            return new DataLock(file, Optional.empty());
        }
        if (!LOCKED.add(file)) {
            throw inUse(data, "this process");
        }
        try {
            return new DataLock(file, Optional.of(locked(data, file)));
        } catch (IOException | RuntimeException e) {
            LOCKED.remove(file);
            throw e;
        }
    }

    private static FileChannel locked(Path data, Path file) throws IOException {
        FileChannel channel = FileChannel.open(
                file,
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
                OwnerOnly.FILE);
        try {
            FileLock lock = channel.tryLock();
            if (lock == null) {
                throw inUse(data, holder(channel));
            }
            channel.truncate(0);
            channel.write(
                    ByteBuffer.wrap(Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII)),
                    0);
            return channel;
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    private static IOException inUse(Path data, String holder) {
        return new IOException(
                "the data directory " + data + " is in use by " + holder + "; stop it, or use another --data-dir");
    }

    private static String holder(FileChannel channel) throws IOException {
        ByteBuffer pid = ByteBuffer.allocate(PID_BYTES);
        channel.read(pid, 0);
        String text = new String(pid.array(), 0, pid.position(), StandardCharsets.US_ASCII);
        return text.matches("[0-9]+") ? "process " + text : "another process";
    }

    @Override
    public void close() throws IOException {
        if (channel.isPresent()) {
            channel.get().close();
            LOCKED.remove(file);
        }
    }
}
