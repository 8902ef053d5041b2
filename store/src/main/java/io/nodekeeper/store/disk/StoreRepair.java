package io.nodekeeper.store.disk;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Builds a new store from the readable data of a damaged one, and keeps the damaged files.
 *
 * <p>A repair builds the new store as {@code NAME.repaired}. Then it renames the damaged one to {@code NAME.damaged-N} and the
 * new one to {@code NAME}. If it is interrupted between the renames, the next start finishes it.
 */
public final class StoreRepair {

    /**
     * The result of a repair.
     *
     * @param check the check before the repair
     * @param objects the number of objects in the new store
     * @param losses what is lost, one phrase each
     * @param aside the directory of the damaged files; empty if the store was not damaged and nothing was changed
     */
    public record Report(StoreCheck check, int objects, List<String> losses, Optional<Path> aside) {}

    private StoreRepair() {}

    /**
     * Repairs the store in {@code directory}. Changes nothing if the store is not damaged, or if the next start can recover it.
     *
     * @throws StoreException if the store is in use or nothing can be read; then nothing was changed
     */
    public static Report repair(Path directory) {
        return repair(directory, RocksOptions.DEFAULT);
    }

    static Report repair(Path directory, RocksOptions database) {
        Optional<HighWaterMark> held = HighWaterMark.lock(directory);
        try {
            StoreCheck check = StoreCheck.of(directory, held, database, ValueTransformer.RAW);
            if (check.state() != StoreCheck.State.DAMAGED) {
                return new Report(check, check.objects(), List.of(), Optional.empty());
            }
            List<String> losses = new ArrayList<>();
            List<Entry> entries;
            long latest = check.known();
            if (check.contents().isPresent()) {
                entries = check.contents().get().recovered().entries();
                if (check.known() > check.revision()) {
                    losses.add(check.loss());
                }
                check.lost().forEach((revision, key) -> losses.add("revision " + revision + " of " + key));
            } else {
                BestEffortRead readable = BestEffortRead.of(directory, StoreFiles.scratch(directory), database);
                entries = readable.entries();
                latest = Math.max(latest, readable.revision());
                losses.add(readable.rows() + " changes can be read, up to revision " + readable.revision()
                        + "; objects whose latest change cannot be read are missing, or are as they were before it");
                readable.unreadable().forEach(range -> losses.add("changes of revisions " + range + " cannot be read"));
            }
            create(directory, latest, entries);
            return new Report(check, entries.size(), losses, Optional.of(StoreFiles.keepDamaged(directory)));
        } finally {
            held.ifPresent(HighWaterMark::close);
        }
    }

    /**
     * Rewrites all objects of the store in {@code directory} in the form that {@code transformer} writes, and deletes the old
     * files and the history, so that no object remains in its old form. Clients have to list again.
     *
     * @return the number of objects
     * @throws StoreException if the store is in use or damaged, or if an object cannot be decrypted; then nothing was changed
     */
    public static int rewrite(Path directory, ValueTransformer transformer) {
        Optional<HighWaterMark> held = HighWaterMark.lock(directory);
        try {
            StoreCheck check = StoreCheck.of(directory, held, RocksOptions.DEFAULT, transformer);
            if (check.state() == StoreCheck.State.DAMAGED) {
                throw check.refusal();
            }
            List<Entry> entries =
                    check.contents().map(contents -> contents.recovered().entries()).orElse(List.of()).stream()
                            .map(entry -> new Entry(
                                    entry.key(),
                                    transformer.toStorage(entry.key(), entry.key(), entry.value()),
                                    entry.createRevision(),
                                    entry.modRevision()))
                            .toList();
            if (!entries.isEmpty()) {
                create(directory, check.known(), entries);
                StoreFiles.deleteRewritten(directory);
            }
            return entries.size();
        } finally {
            held.ifPresent(HighWaterMark::close);
        }
    }

    /** Makes the store that is to replace the one in {@code directory}. */
    private static void create(Path directory, long latest, List<Entry> entries) {
        Path repaired = StoreFiles.repaired(directory);
        StoreFiles.delete(repaired);
        RocksJournal.create(repaired, latest, entries);
    }
}
