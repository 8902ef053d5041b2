package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Journal;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.store.memory.JournaledContract;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** The contract with RocksDB, and reopening. */
class RocksStoreTest extends JournaledContract {
    @TempDir
    Path directory;

    @Override
    protected Journal journal() {
        return RocksJournal.open(directory);
    }

    private void reopen() {
        close();
        store = begin();
    }

    @Test
    @Tag("W71")
    @Tag("W85")
    void objectsHistoryAndRevisionSurviveAReopening() {
        put(N1, "a", 0);
        put(N2, "b", 0);
        put(N1, "c", 1);
        delete(N2, 2);
        reopen();
        assertThat(store.revision()).isEqualTo(4);
        assertThat(list(0)).containsExactly("n1=c@1/3");
        assertThat(list(2)).containsExactly("n1=a@1/1", "n2=b@2/2");
        assertThat(watch(NODES, 1).heard)
                .containsExactly("2: - -> n2=b@2/2", "3: n1=a@1/1 -> n1=c@1/3", "4: n2=b@2/2 -> -");
        assertThat(text(put(N2, "d", 0))).isEqualTo("n2=d@5/5");
    }

    @Test
    @Tag("W71")
    void revisionDoesNotDecreaseAfterAllObjectsAreDeleted() {
        put(N1, "a", 0);
        delete(N1, 1);
        reopen();
        assertThat(store.revision()).isEqualTo(2);
        assertThat(list(0)).isEmpty();
        assertThat(text(put(N1, "b", 0))).isEqualTo("n1=b@3/3");
    }

    @Test
    void recoveredHistoryIsTrimmed() {
        for (int i = 0; i < 4; i++) {
            put(N1, "v" + i, i);
        }
        reopen();
        put(N1, "v4", 4);
        assertThat(watch(NODES, 0).heard).containsExactly("compacted; the oldest kept is 1");
        reopen();
        assertThat(watch(NODES, 1).heard).hasSize(4);
        assertThat(list(1)).containsExactly("n1=v0@1/1");
    }

    @Test
    void rowsOfRemovedHistoryAreDeleted() throws Exception {
        for (int i = 0; i < 20; i++) {
            put(N1, "v" + i, i);
        }
        delete(N1, 20);
        store.close();
        settle();
        // Four changes, the version before them, the format, the revision, the checksum and the compacted revision of
        // the nodes.
        assertThat(rows()).isEqualTo(9);
        store = begin();
    }

    @Test
    void reappearedRowPreventsTheStart() throws Exception {
        // given a journal that removed all changes except the last four
        for (int i = 0; i < 20; i++) {
            put(N1, "v" + i, i);
        }
        store.close();
        settle();
        // when a removed row is back
        try (RocksDB db = RocksDB.open(directory.toString())) {
            byte[] name = N1.getBytes(StandardCharsets.UTF_8);
            ByteBuffer change = ByteBuffer.allocate(19)
                    .put((byte) 1)
                    .putLong(1)
                    .putLong(4)
                    .put("v4".getBytes(StandardCharsets.UTF_8));
            db.put(
                    ByteBuffer.allocate(9 + name.length)
                            .put((byte) 'c')
                            .putLong(5)
                            .put(name)
                            .array(),
                    change.array());
        }
        // then the checksum does not match
        assertThatThrownBy(this::begin)
                .isInstanceOf(StoreException.Damaged.class)
                .hasMessageContaining("its rows do not add up: expected 6 rows as of revision 20, found 7");
        store = new IndexedStore(time.loop("store"), Journal.NONE);
    }

    @Test
    void formatWithoutAChecksumIsUpgraded() throws Exception {
        put(N1, "a", 0);
        store.close();
        settle();
        // given a journal in format 2: without a checksum and a mark
        try (RocksDB db = RocksDB.open(directory.toString())) {
            db.delete("msum".getBytes(StandardCharsets.US_ASCII));
            db.put(
                    "mformat".getBytes(StandardCharsets.US_ASCII),
                    ByteBuffer.allocate(Long.BYTES).putLong(2).array());
        }
        Files.delete(directory.resolve("acknowledged"));
        // when it is opened and written
        store = begin();
        put(N2, "b", 0);
        reopen();
        // then it has the current format and all objects
        assertThat(list(0)).containsExactly("n1=a@1/1", "n2=b@2/2");
        store.close();
        settle();
        // Two changes, the format, the revision and the checksum.
        assertThat(rows()).isEqualTo(5);
        store = begin();
    }

    private int rows() throws RocksDBException {
        int rows = 0;
        RocksDB.loadLibrary();
        try (RocksDB db = RocksDB.open(directory.toString());
                var rowsOfAll = db.newIterator()) {
            for (rowsOfAll.seekToFirst(); rowsOfAll.isValid(); rowsOfAll.next()) {
                rows++;
            }
        }
        return rows;
    }

    @Test
    void directoryInUseIsRefused() {
        assertThatThrownBy(() -> RocksJournal.open(directory))
                .isInstanceOf(StoreException.class)
                .hasMessage("the store in " + directory + " is in use by this process; stop that, or use another"
                        + " --data-dir");
    }

    @Test
    void unknownFormatIsRefused() throws Exception {
        store.close();
        settle();
        try (RocksDB db = RocksDB.open(directory.toString())) {
            db.put(
                    "mformat".getBytes(StandardCharsets.US_ASCII),
                    ByteBuffer.allocate(Long.BYTES).putLong(7).array());
        }
        assertThatThrownBy(() -> RocksJournal.open(directory))
                .hasMessage(directory + " is in journal format 7; this version reads format 3");
        try (RocksDB db = RocksDB.open(directory.toString())) {
            db.put(
                    "mformat".getBytes(StandardCharsets.US_ASCII),
                    ByteBuffer.allocate(Long.BYTES).putLong(3).array());
        }
        store = begin();
    }
}
