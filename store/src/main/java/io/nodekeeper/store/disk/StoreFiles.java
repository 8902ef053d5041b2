package io.nodekeeper.store.disk;

import io.nodekeeper.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.Set;
import java.util.stream.Stream;

/** The directory of a store, and the directories beside it that a repair uses. */
final class StoreFiles {
    /** Mode 0700, because a store holds Secrets. */
    static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private static final String REPAIRED = ".repaired";
    private static final String DAMAGED = ".damaged-";
    private static final String SCRATCH = ".salvage";

    private StoreFiles() {}

    /** Where a repair builds the new store: {@code NAME.repaired}. */
    static Path repaired(Path directory) {
        return beside(directory, REPAIRED);
    }

    /** Where a repair links the damaged files to read them: {@code NAME.salvage}. */
    static Path scratch(Path directory) {
        return beside(directory, SCRATCH);
    }

    private static Path beside(Path directory, String ending) {
        return directory.resolveSibling(directory.getFileName() + ending);
    }

    /**
     * Moves {@code directory} to the first free {@code NAME.damaged-N} and {@code NAME.repaired} to {@code directory}.
     *
     * @return where the old directory is now
     */
    static Path replaceWithRepaired(Path directory) {
        Path repaired = repaired(directory);
        try {
            int number = 1;
            while (Files.exists(beside(directory, DAMAGED + number))) {
                number++;
            }
            Path aside = beside(directory, DAMAGED + number);
            Files.move(directory, aside);
            Files.move(repaired, directory);
            return aside;
        } catch (IOException e) {
            throw new StoreException("cannot put " + repaired + " in the place of " + directory + ": " + e, e);
        }
    }

    /** Finishes a repair that was interrupted between the two moves of {@link #replaceWithRepaired}, if there was one. */
    static void finishRepair(Path directory) {
        Path repaired = repaired(directory);
        if (!Files.exists(directory) && Files.exists(repaired)) {
            try {
                Files.move(repaired, directory);
            } catch (IOException e) {
                throw new StoreException("cannot move " + repaired + " to " + directory + ": " + e, e);
            }
        }
    }

    /** Deletes a directory with all its files. Does nothing if it does not exist. */
    static void delete(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new StoreException("cannot remove " + directory + ": " + e, e);
        }
    }
}
