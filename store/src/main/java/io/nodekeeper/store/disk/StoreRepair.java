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
        try (StoreReading reading = new StoreReading(directory, held, database, ValueTransformer.RAW)) {
            StoreCheck check = reading.check();
            if (check.state() != StoreCheck.State.DAMAGED) {
                return new Report(check, check.objects(), List.of(), Optional.empty());
            }
            List<String> losses = new ArrayList<>();
            int objects;
            if (check.contents().isPresent()) {
                objects = check.objects();
                create(directory, check.known(), reading.recovered().entries()::forEach);
                if (check.known() > check.revision()) {
                    losses.add(check.loss());
                }
                check.lost().forEach((revision, key) -> losses.add("revision " + revision + " of " + key));
            } else {
                objects = BestEffortRead.use(directory, StoreFiles.scratch(directory), database, readable -> {
                    List<String> lost = new ArrayList<>();
                    create(
                            directory,
                            Math.max(check.known(), readable.revision()),
                            taker -> lost.addAll(readable.each(taker)));
                    losses.add(
                            readable.rows() + " changes can be read, up to revision " + readable.revision()
                                    + "; objects whose latest change cannot be read are missing, or are as they were before it");
                    readable.unreadable()
                            .forEach(range -> losses.add("changes of revisions " + range + " cannot be read"));
                    lost.forEach(key -> losses.add("the value of " + key + " cannot be read"));
                    return readable.entries().size() - lost.size();
                });
            }
            return new Report(check, objects, losses, Optional.of(StoreFiles.keepDamaged(directory)));
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
        try (StoreReading reading = new StoreReading(directory, held, RocksOptions.DEFAULT, transformer)) {
            StoreCheck check = reading.check();
            if (check.state() == StoreCheck.State.DAMAGED) {
                throw check.refusal();
            }
            List<Entry> entries = reading.recovered().entries();
            if (!entries.isEmpty()) {
                create(
                        directory,
                        check.known(),
                        taker -> entries.forEach(entry -> taker.accept(encoded(entry, transformer))));
                StoreFiles.deleteRewritten(directory);
            }
            return entries.size();
        } finally {
            held.ifPresent(HighWaterMark::close);
        }
    }

    private static Entry encoded(Entry entry, ValueTransformer transformer) {
        return new Entry(
                entry.key(),
                transformer.toStorage(entry.key(), entry.key(), entry.value()),
                entry.createRevision(),
                entry.modRevision());
    }

    /** Makes the store that is to replace the one in {@code directory}. */
    private static void create(Path directory, long latest, ObjectSource<RuntimeException> objects) {
        StoreRestore.create(StoreFiles.repaired(directory), latest, RocksJournal.JUMP, objects);
    }
}
