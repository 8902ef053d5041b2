package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.VirtualTime;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kills another process while it writes a store. */
class ProcessDeathTest {
    private static final String PREFIX = "/registry/minions/";
    private static final int CHANGES = 20;

    @TempDir
    Path directory;

    /** Writes groups to a store forever, and prints the revision of each acknowledged one. */
    static final class Writer {
        private Writer() {}

        public static void main(String[] arguments) {
            Path directory = Path.of(arguments[0]);
            RocksJournal journal = RocksJournal.open(directory);
            long revision = journal.load().revision();
            while (true) {
                List<Event> group = new ArrayList<>();
                for (int i = 0; i < CHANGES; i++) {
                    revision++;
                    String key = PREFIX + "n" + revision;
                    group.add(new Event(
                            revision,
                            key,
                            Optional.empty(),
                            Optional.of(new Entry(key, new byte[300], revision, revision))));
                }
                journal.append(group, List.of());
                System.out.println(revision);
            }
        }
    }

    private Process start() throws IOException {
        Set<String> classes = new LinkedHashSet<>();
        for (Class<?> needed : List.of(
                Writer.class,
                RocksJournal.class,
                org.rocksdb.RocksDB.class,
                org.slf4j.Logger.class,
                VirtualTime.class)) {
            classes.add(Path.of(needed.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .getPath())
                    .toString());
        }
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        String.join(File.pathSeparator, classes),
                        Writer.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    @Test
    @Tag("W85")
    void killedProcessLosesNoAcknowledgedWriteAndNeedsNoRepair() throws Exception {
        long before = 0;
        for (int round = 1; round <= 4; round++) {
            Process process = start();
            long acknowledged = 0;
            try (BufferedReader lines = process.inputReader(StandardCharsets.US_ASCII)) {
                // given a process that has written some groups, another number in each round
                for (int groups = 0; groups < 7 * round; groups++) {
                    acknowledged = Long.parseLong(lines.readLine());
                }
                assertThat(acknowledged).isGreaterThan(before);
                // then a second process is refused with an error that names the first one
                assertThatThrownBy(() -> RocksJournal.open(directory))
                        .hasMessageContaining("is in use by process " + process.pid() + " (")
                        .hasMessageEndingWith("; stop that, or use another --data-dir");
                // when it is killed
                process.toHandle().destroyForcibly();
                assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
                // all revisions that it printed were acknowledged; a truncated line does not count
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    long printed = Long.parseLong(line);
                    acknowledged = printed % CHANGES == 0 ? Math.max(acknowledged, printed) : acknowledged;
                }
            }
            // then all of them are there, in complete groups
            try (RocksJournal journal = RocksJournal.open(directory)) {
                Journal.Recovered recovered = journal.load();
                assertThat(recovered.revision()).isGreaterThanOrEqualTo(acknowledged);
                assertThat(recovered.entries().size() % CHANGES).isZero();
                assertThat(recovered.entries()).hasSizeGreaterThanOrEqualTo((int) Math.min(acknowledged, 1_000_000));
                before = recovered.revision();
            }
            if (before > RocksJournal.JUMP) {
                // The end was torn, which a kill hardly ever does: revisions went on beyond, and the counts above end
                // here.
                return;
            }
        }
        // Nothing runs the store's loop, which would close the journal.
        try (RocksJournal journal = RocksJournal.open(directory)) {
            IndexedStore store = new IndexedStore(new VirtualTime(Instant.EPOCH).loop("store"), journal);
            assertThat(store.list(PREFIX, "", 0, 0).entries()).hasSize((int) before);
        }
    }
}
