package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.StoreException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WALRecoveryMode;

@Timeout(60)
class RowReaderTest {
    @TempDir
    Path directory;

    private Options options;
    private RocksDB db;

    @BeforeEach
    void open() throws RocksDBException {
        RocksDB.loadLibrary();
        options = RocksOptions.DEFAULT
                .options(WALRecoveryMode.AbsoluteConsistency)
                .setCreateIfMissing(true);
        db = RocksDB.open(options, directory.toString());
    }

    @AfterEach
    void close() {
        db.close();
        options.close();
    }

    private void write(int rows, int length) throws RocksDBException {
        for (int revision = 1; revision <= rows; revision++) {
            byte[] value = new byte[length];
            value[0] = (byte) revision;
            db.put(RowFormat.row(revision, "/registry/minions/n"), value);
        }
    }

    @Test
    void allRowsOfAKindComeInTheOrderOfTheirKeys() throws Exception {
        db.put(new byte[] {RowFormat.CHANGE - 1, 1}, new byte[1]);
        db.put(RowFormat.window("/registry/minions/"), new byte[1]);
        write(10_000, 3);

        List<Long> revisions = new ArrayList<>();
        try (RowReader rows = RowReader.start(db, RowFormat.CHANGE)) {
            for (List<RowReader.Row> batch = rows.next(); !batch.isEmpty(); batch = rows.next()) {
                for (RowReader.Row row : batch) {
                    revisions.add(RowFormat.revision(row.key()));
                    assertThat(row.value()).hasSize(3);
                    assertThat(row.value()[0]).isEqualTo((byte) RowFormat.revision(row.key()));
                }
            }
            assertThat(rows.next()).isEmpty();
        }

        assertThat(revisions).hasSize(10_000).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void aDatabaseWithoutSuchRowsIsAtItsEnd() throws Exception {
        db.put(RowFormat.window("/registry/minions/"), new byte[1]);

        try (RowReader rows = RowReader.start(db, RowFormat.CHANGE)) {
            assertThat(rows.next()).isEmpty();
        }
    }

    @Test
    void largeRowsWaitInSmallBatches() throws Exception {
        write(12, 600_000);

        List<Integer> sizes = new ArrayList<>();
        try (RowReader rows = RowReader.start(db, RowFormat.CHANGE)) {
            for (List<RowReader.Row> batch = rows.next(); !batch.isEmpty(); batch = rows.next()) {
                sizes.add(batch.size());
            }
        }

        assertThat(sizes).containsOnly(2).hasSize(6);
    }

    @Test
    void closingInTheMiddleLetsTheDatabaseBeClosed() throws Exception {
        write(100, 600_000);

        try (RowReader rows = RowReader.start(db, RowFormat.CHANGE)) {
            assertThat(rows.next()).hasSize(2);
        }
        try (RowReader rows = RowReader.start(db, RowFormat.CHANGE)) {
            // Its thread may not have begun.
        }

        db.close();
    }

    @Test
    void anInterruptedUserStaysInterrupted() {
        try (RowReader rows = RowReader.start(db, RowFormat.CHANGE)) {
            Thread.currentThread().interrupt();

            assertThatThrownBy(rows::next)
                    .isInstanceOf(StoreException.class)
                    .hasMessage("interrupted while the journal was read");
            assertThat(Thread.interrupted()).isTrue();
        }
    }
}
