package io.nodekeeper.store;

import io.nodekeeper.store.encryption.ValueTransformer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Makes a store that can be served from what can be read of a damaged one, and keeps the damaged one beside it.
 *
 * <p>The new store is made whole as {@code NAME.repaired}; then the damaged one becomes {@code NAME.damaged-N}, and the new one
 * takes its name. A start that finds {@code NAME.repaired} and no {@code NAME} ends a repair that was interrupted in between.
 */
public final class StoreRepair {

    /**
     * What a repair did.
     *
     * @param check what was found before
     * @param objects how many objects the new store has
     * @param losses what is lost, a sentence each
     * @param aside where the damaged files are; empty if nothing was wrong and nothing was changed
     */
    public record Report(StoreCheck check, int objects, List<String> losses, Optional<Path> aside) {}

    private StoreRepair() {}

    /**
     * Repairs the store in {@code directory}, which no server may have open. A store that is whole, or that the next start makes
     * whole by itself, is left as it is.
     *
     * @throws StoreException if it is in use, or if nothing can be read; then nothing was changed
     */
    public static Report repair(Path directory) {
        return repair(directory, Database.DEFAULT);
    }

    static Report repair(Path directory, Database database) {
        Optional<Mark> held = Mark.lock(directory);
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
                Salvage salvage = Salvage.of(directory, beside(directory, ".salvage"), database);
                entries = salvage.entries();
                latest = Math.max(latest, salvage.revision());
                losses.add(salvage.rows() + " changes can be read, up to revision " + salvage.revision()
                        + "; objects whose latest change cannot be read are missing, or are as they were before it");
                salvage.unreadable().forEach(range -> losses.add("changes of revisions " + range + " cannot be read"));
            }
            return new Report(check, entries.size(), losses, Optional.of(replace(directory, latest, entries)));
        } finally {
            held.ifPresent(Mark::close);
        }
    }

    /**
     * Writes all objects of the store in {@code directory} again in the form that {@code transformer} writes, and removes what was
     * there, with the history: nothing in the old form stays. Clients list again. No server may have the store open.
     *
     * @return how many objects there are
     * @throws StoreException if the store is in use or damaged, or if an object cannot be decrypted; then nothing was changed
     */
    public static int rewrite(Path directory, ValueTransformer transformer) {
        Optional<Mark> held = Mark.lock(directory);
        try {
            StoreCheck check = StoreCheck.of(directory, held, Database.DEFAULT, transformer);
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
                Salvage.delete(replace(directory, check.known(), entries));
            }
            return entries.size();
        } finally {
            held.ifPresent(Mark::close);
        }
    }

    private static Path replace(Path directory, long latest, List<Entry> entries) {
        Path repaired = beside(directory, ".repaired");
        Salvage.delete(repaired);
        RocksJournal.create(repaired, latest, entries);
        try {
            Path aside = free(directory);
            Files.move(directory, aside);
            Files.move(repaired, directory);
            return aside;
        } catch (IOException e) {
            throw new StoreException("cannot put " + repaired + " in the place of " + directory + ": " + e, e);
        }
    }

    private static Path free(Path directory) {
        int number = 1;
        while (Files.exists(beside(directory, ".damaged-" + number))) {
            number++;
        }
        return beside(directory, ".damaged-" + number);
    }

    private static Path beside(Path directory, String ending) {
        return directory.resolveSibling(directory.getFileName() + ending);
    }

    /** Ends a repair that was interrupted after the damaged store was moved away, if there was one. */
    static void complete(Path directory) {
        Path repaired = beside(directory, ".repaired");
        if (!Files.exists(directory) && Files.exists(repaired)) {
            try {
                Files.move(repaired, directory);
            } catch (IOException e) {
                throw new StoreException("cannot move " + repaired + " to " + directory + ": " + e, e);
            }
        }
    }
}
