package io.nodekeeper.agent.checkpoint;

import io.nodekeeper.agent.kernel.KernelFile;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.Loop;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A file that is replaced as a whole: a reader finds the old content or the new one. One write runs at a time; changes that come
 * meanwhile are written together by the next one. Confined to its loop, but for {@link #read}.
 */
public final class CheckpointFile {
    /** The longest write. A checkpoint has some KB. */
    private static final Duration WRITE = Duration.ofSeconds(10);
    /** The largest file that is read: some 10,000 allocations. */
    private static final int MOST_BYTES = 16 << 20;

    private final Path file;
    private final Supplier<JsonObject> content;
    private final BlockingCalls disk;
    private final Loop loop;
    /** The write that has not begun; at most one. */
    private Optional<CompletableFuture<Void>> waiting = Optional.empty();

    private boolean busy;

    /**
     * A file, which is not touched yet.
     *
     * @param content what shall be written, as it is then; called on {@code loop}
     */
    public CheckpointFile(Path file, Supplier<JsonObject> content, BlockingCalls disk, Loop loop) {
        this.file = file;
        this.content = content;
        this.disk = disk;
        this.loop = loop;
    }

    /**
     * The content of {@code file}; empty if there is none. Blocks.
     *
     * @throws IOException if it cannot be read, or is not a JSON object
     */
    public static Optional<JsonObject> read(Path file) throws IOException {
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            return Optional.of(Json.parseObject(KernelFile.text(file, MOST_BYTES)));
        } catch (JsonException e) {
            throw new IOException(file + ": expected a JSON object: " + e.getMessage(), e);
        }
    }

    /** Replaces {@code file} by {@code content}. Blocks. */
    public static void write(Path file, JsonObject content) throws IOException {
        replace(file, Json.writeBytes(content));
    }

    /** Writes the content; the result completes on the loop once what is now in memory is on disk. */
    public CompletableFuture<Void> save() {
        if (waiting.isPresent()) {
            return waiting.get();
        }
        CompletableFuture<Void> saved = new CompletableFuture<>();
        if (busy) {
            waiting = Optional.of(saved);
        } else {
            write(saved);
        }
        return saved;
    }

    private void write(CompletableFuture<Void> saved) {
        busy = true;
        byte[] bytes = Json.writeBytes(content.get());
        disk.call(file.toString(), WRITE, () -> {
                    replace(file, bytes);
                    return "";
                })
                .whenComplete((done, error) -> loop.execute(() -> {
                    busy = false;
                    Optional<CompletableFuture<Void>> next = waiting;
                    waiting = Optional.empty();
                    next.ifPresent(this::write);
                    if (error == null) {
                        saved.complete(null);
                    } else {
                        saved.completeExceptionally(error);
                    }
                }));
    }

    private static void replace(Path file, byte[] bytes) throws IOException {
        Path made = file.resolveSibling("." + file.getFileName() + ".tmp");
        Files.deleteIfExists(made);
        try (FileChannel channel = FileChannel.open(
                made,
                EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            ByteBuffer rest = ByteBuffer.wrap(bytes);
            while (rest.hasRemaining()) {
                channel.write(rest);
            }
            channel.force(true);
        }
        Files.move(made, file, StandardCopyOption.ATOMIC_MOVE);
    }
}
