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
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The directory of a store, and the directories beside it that a repair uses. */
final class StoreFiles {
    /** Mode 0700, because a store holds Secrets. */
    static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private static final String REPAIRED = ".repaired";
    private static final String DAMAGED = ".damaged-";
    private static final String SCRATCH = ".salvage";
    private static final String REWRITTEN = ".rewritten";
    private static final String PARTIAL = ".partial";

    private StoreFiles() {}

    /** Where a repair builds the new store: {@code NAME.repaired}. */
    static Path repaired(Path directory) {
        return beside(directory, REPAIRED);
    }

    /** Where a repair links the damaged files to read them: {@code NAME.salvage}. */
    static Path scratch(Path directory) {
        return beside(directory, SCRATCH);
    }

    /** Where a restore builds the new store: {@code NAME.partial}. */
    static Path partial(Path directory) {
        return beside(directory, PARTIAL);
    }

    private static Path beside(Path directory, String ending) {
        return directory.resolveSibling(directory.getFileName() + ending);
    }

    /**
     * Moves {@code directory} to the first free {@code NAME.damaged-N} and {@code NAME.repaired} to {@code directory}.
     *
     * @return where the old directory is now
     */
    static Path keepDamaged(Path directory) {
        int number = 1;
        while (Files.exists(beside(directory, DAMAGED + number))) {
            number++;
        }
        Path aside = beside(directory, DAMAGED + number);
        replace(directory, aside);
        return aside;
    }

    /**
     * Replaces {@code directory} by {@code NAME.repaired} and deletes it. It is {@code NAME.rewritten} meanwhile, by which {@link
     * #finishRepair} knows what is left of it after an interruption.
     */
    static void deleteRewritten(Path directory) {
        Path aside = beside(directory, REWRITTEN);
        delete(aside);
        replace(directory, aside);
        delete(aside);
    }

    private static void replace(Path directory, Path aside) {
        Path repaired = repaired(directory);
        try {
            Files.move(directory, aside);
            Files.move(repaired, directory);
        } catch (IOException e) {
            throw new StoreException("cannot put " + repaired + " in the place of " + directory + ": " + e, e);
        }
    }

    /** Finishes a repair or rewrite that was interrupted between or after its two moves, if there was one. */
    static void finishRepair(Path directory) {
        Path repaired = repaired(directory);
        if (!Files.exists(directory) && Files.exists(repaired)) {
            try {
                Files.move(repaired, directory);
            } catch (IOException e) {
                throw new StoreException("cannot move " + repaired + " to " + directory + ": " + e, e);
            }
        }
        if (Files.exists(directory)) {
            delete(beside(directory, REWRITTEN));
        }
    }

    /** Deletes what interrupted restores left: {@code NAME.partial}, with a number in earlier versions. */
    static void deletePartial(Path directory) {
        String name = directory.getFileName() + PARTIAL;
        try (Stream<Path> files = Files.list(directory.resolveSibling(""))) {
            files.filter(file -> file.getFileName().toString().matches(Pattern.quote(name) + "[0-9]*"))
                    .toList()
                    .forEach(StoreFiles::deleteUnused);
        } catch (IOException e) {
            throw new StoreException("cannot list the directory of " + directory + ": " + e, e);
        }
    }

    /** Deletes a store that no process writes. */
    private static void deleteUnused(Path directory) {
        HighWaterMark.lock(directory).ifPresent(HighWaterMark::close);
        delete(directory);
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
