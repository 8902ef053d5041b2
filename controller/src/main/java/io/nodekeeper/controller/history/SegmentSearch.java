package io.nodekeeper.controller.history;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Searches the decisions on disk, and those that are not there yet, from the newest to the oldest. It ends when the
 * answer is complete or the time is over, so that it takes as long as the answer is old, and not as long as the
 * history. Most lines are skipped by their {@link LineHead}. Blocks; for one search; not thread-safe.
 */
final class SegmentSearch {
    private final Search<?> search;
    private final Search.Sieve<?> sieve;
    private final Unstored unstored;
    private final BooleanSupplier isOver;
    private final Consumer<String> damaged;

    private Optional<LineHead> last = Optional.empty();
    /** The time of the oldest decision so far. */
    private Optional<Instant> oldest = Optional.empty();

    /**
     * A search that offers to {@code sieve}.
     *
     * @param isOver whether the time is over; called for each block of a file
     * @param damaged receives descriptions of unreadable lines
     */
    SegmentSearch(
            Search<?> search,
            Search.Sieve<?> sieve,
            Unstored unstored,
            BooleanSupplier isOver,
            Consumer<String> damaged) {
        this.search = search;
        this.sieve = sieve;
        this.unstored = unstored;
        this.isOver = isOver;
        this.damaged = damaged;
    }

    /** Searches; called once. */
    void run(Segments segments) throws IOException {
        boolean isEnd = readAll(segments.list());
        unstored.end(sieve);
        if (isEnd && segments.wasPruned()) {
            oldest.ifPresent(sieve::deletedUntil);
        }
    }

    /** Reads the files from the last to the first; whether it came to the beginning. */
    private boolean readAll(List<Path> files) throws IOException {
        for (Path file : files.reversed()) {
            try (ReverseLines lines = new ReverseLines(file)) {
                if (!read(file, lines)) {
                    return false;
                }
            } catch (NoSuchFileException e) {
                // The writer deleted the file just now; its decisions are too old.
                continue;
            }
        }
        return true;
    }

    private boolean read(Path file, ReverseLines lines) throws IOException {
        for (byte[] block = lines.previous(); block.length > 0; block = lines.previous()) {
            read(file, lines.start(), block);
            last.flatMap(head -> KubeTime.parse(head.at())).ifPresent(time -> oldest = Optional.of(time));
            if (oldest.filter(sieve::isComplete).isPresent()) {
                return false;
            }
            if (oldest.isPresent() && isOver.getAsBoolean()) {
                sieve.unreadUntil(oldest.get());
                return false;
            }
        }
        return true;
    }

    /** Reads the lines of a block, which begins at {@code position} of its file, from the last to the first. */
    private void read(Path file, long position, byte[] block) {
        for (int end = block.length; end > 0; ) {
            boolean isWhole = block[end - 1] == '\n';
            int lineEnd = isWhole ? end - 1 : end;
            int start = lineEnd;
            while (start > 0 && block[start - 1] != '\n') {
                start--;
            }
            if (isWhole) {
                line(file, position + start, block, start, lineEnd);
            } else {
                damaged.accept(where(file, position + start) + "torn line of " + (lineEnd - start) + " bytes");
            }
            end = start;
        }
    }

    private void line(Path file, long position, byte[] block, int start, int end) {
        Optional<LineHead> head = LineHead.of(block, start, end);
        if (head.isPresent()) {
            last = head;
            if (!search.wants(head.get().node(), head.get().uid(), head.get().kind())) {
                return;
            }
        }
        try {
            Decision.of(Json.parseObject(Arrays.copyOfRange(block, start, end)))
                    .ifPresentOrElse(
                            decision -> unstored.stored(decision, sieve),
                            () -> damaged.accept(where(file, position) + "expected a decision with at and kind"));
        } catch (JsonException e) {
            damaged.accept(where(file, position) + e.getMessage());
        }
    }

    private static String where(Path file, long position) {
        return file + ", byte " + position + ": ";
    }
}
