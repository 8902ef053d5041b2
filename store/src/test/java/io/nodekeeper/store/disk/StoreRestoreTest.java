package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a restore leaves beside the store: nothing, whether it succeeds or fails. */
@Tag("W71")
class StoreRestoreTest {
    private static final Entry NODE = new Entry("/registry/minions/n1", new byte[] {1}, 3, 7);

    @TempDir
    Path parent;

    private Path directory;

    @BeforeEach
    void place() {
        directory = parent.resolve("store");
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(parent)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private void left(String name) throws IOException {
        Files.createDirectory(parent.resolve(name));
        Files.writeString(parent.resolve(name).resolve("000007.log"), "a secret");
    }

    @Test
    void restoredStoreHoldsTheObjectsAndItsRevisionJumps() throws Exception {
        StoreRestore.restore(directory, 9, 100, List.of(NODE)::forEach);

        assertThat(names()).containsExactly("store");
        try (RocksJournal journal = RocksJournal.open(directory)) {
            assertThat(journal.load().revision()).isEqualTo(109);
            assertThat(journal.load().entries()).containsExactly(NODE);
        }
    }

    @Test
    void restoreThatFailsLeavesNothing() throws Exception {
        // given a snapshot that ends with an error after its first object
        ObjectSource<IOException> failing = taker -> {
            taker.accept(NODE);
            throw new IOException("no space left on device");
        };

        assertThatThrownBy(() -> StoreRestore.restore(directory, 9, 100, failing))
                .isInstanceOf(IOException.class)
                .hasMessage("no space left on device");

        assertThat(names()).isEmpty();
    }

    @Test
    void whatInterruptedRestoresLeftGoesWithTheNextOne() throws Exception {
        // given what this and an earlier version left, and a directory of somebody else
        left("store.partial");
        left("store.partial1234567890");
        left("store.partial-copy");

        StoreRestore.restore(directory, 9, 100, List.of(NODE)::forEach);

        assertThat(names()).containsExactly("store", "store.partial-copy");
    }

    @Test
    void restoreInThePlaceOfAStoreFailsAndLeavesThatStore() throws Exception {
        left("store");

        assertThatThrownBy(() -> StoreRestore.restore(directory, 9, 100, List.of(NODE)::forEach))
                .hasMessageStartingWith("cannot move " + parent.resolve("store.partial") + " to " + directory);

        assertThat(names()).containsExactly("store");
        assertThat(directory.resolve("000007.log")).hasContent("a secret");
    }
}
