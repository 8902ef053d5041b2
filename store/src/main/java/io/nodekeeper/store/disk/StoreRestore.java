package io.nodekeeper.store.disk;

import io.nodekeeper.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Makes stores of given objects. If that fails, it deletes what it has made. */
public final class StoreRestore {
    private StoreRestore() {}

    /**
     * Makes the store {@code directory}, which must not exist. Until it is complete, it is {@code NAME.partial}; what
     * interrupted attempts left beside {@code directory} is deleted first.
     *
     * @param revision the revision of the objects; that of the store is {@code jump} larger
     * @throws StoreException if the store cannot be written
     * @throws E if the objects cannot be read
     */
    public static <E extends Exception> void restore(Path directory, long revision, long jump, ObjectSource<E> objects)
            throws E {
        StoreFiles.deletePartial(directory);
        Path partial = StoreFiles.partial(directory);
        create(partial, revision, jump, objects);
        try {
            Files.move(partial, directory);
        } catch (IOException e) {
            StoreFiles.delete(partial);
            throw new StoreException("cannot move " + partial + " to " + directory + ": " + e, e);
        }
    }

    /** Makes the store {@code directory}, in the place of what is there. */
    static <E extends Exception> void create(Path directory, long revision, long jump, ObjectSource<E> objects)
            throws E {
        StoreFiles.delete(directory);
        boolean complete = false;
        try {
            RocksJournal.create(directory, revision, jump, objects);
            complete = true;
        } finally {
            if (!complete) {
                StoreFiles.delete(directory);
            }
        }
    }
}
