package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The directories of a store and its repair. */
class StoreFilesTest {
    @TempDir
    Path directory;

    private Path make(String name) throws IOException {
        Path made = Files.createDirectory(directory.resolve(name));
        Files.writeString(made.resolve("file"), name);
        return made;
    }

    private static String content(Path store) throws IOException {
        return Files.readString(store.resolve("file"));
    }

    @Test
    void repairedStoreTakesThePlaceOfTheDamagedOneWhichGetsAFreeName() throws IOException {
        make("store.damaged-1");
        make("store.damaged-2");
        make("store.repaired");
        Path store = make("store");

        assertThat(StoreFiles.repaired(store)).isEqualTo(directory.resolve("store.repaired"));
        assertThat(StoreFiles.scratch(store)).isEqualTo(directory.resolve("store.salvage"));
        assertThat(StoreFiles.keepDamaged(store)).isEqualTo(directory.resolve("store.damaged-3"));

        assertThat(content(directory.resolve("store.damaged-3"))).isEqualTo("store");
        assertThat(content(store)).isEqualTo("store.repaired");
        assertThat(directory.resolve("store.repaired")).doesNotExist();
        make("store.repaired");
        assertThat(StoreFiles.keepDamaged(store)).isEqualTo(directory.resolve("store.damaged-4"));
    }

    @Test
    void repairThatCannotBeFinishedIsNamedAndIsFinishedLater() throws IOException {
        Path store = make("store");
        // when there is no repaired store, the damaged one is moved and the second move fails
        assertThatThrownBy(() -> StoreFiles.keepDamaged(store))
                .isInstanceOf(StoreException.class)
                .hasMessageStartingWith("cannot put " + store + ".repaired in the place of " + store + ": ");
        StoreFiles.finishRepair(store);
        assertThat(store).doesNotExist();
        // when it exists, it replaces the missing store
        make("store.repaired");
        StoreFiles.finishRepair(store);
        assertThat(content(store)).isEqualTo("store.repaired");
        // but never an existing store
        make("store.repaired");
        Files.writeString(store.resolve("file"), "used");
        StoreFiles.finishRepair(store);
        assertThat(content(store)).isEqualTo("used");
        assertThat(directory.resolve("store.repaired")).exists();
    }

    @Test
    void directoryIsDeletedWithItsFiles() throws IOException {
        Path store = make("store");
        Files.createDirectory(store.resolve("inner"));
        Files.writeString(store.resolve("inner/file"), "x");

        StoreFiles.delete(store);
        StoreFiles.delete(store);

        assertThat(directory).isEmptyDirectory();
    }
}
