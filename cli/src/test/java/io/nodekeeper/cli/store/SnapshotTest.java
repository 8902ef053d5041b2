package io.nodekeeper.cli.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cli.apiserver.ApiServerCommand;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.disk.RocksJournal;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code apiserver snapshot} and {@code apiserver restore}, on real stores. */
class SnapshotTest {
    private static final String NODES = "/registry/minions/";

    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final StringWriter err = new StringWriter();
    private final CommandRunner runner = runner(Instant.parse("2026-11-30T20:00:00Z"));

    private CommandRunner runner(Instant now) {
        return new CommandRunner(
                List.of(new ApiServerCommand(
                        command -> CommandRunner.OK,
                        new SnapshotCommand(new PrintWriter(err)),
                        new RestoreCommand(now, new PrintWriter(err)))),
                new PrintWriter(new StringWriter()),
                new PrintWriter(err));
    }

    private Path data;
    private Path file;

    @BeforeEach
    void name() {
        data = directory.resolve("data");
        file = directory.resolve("objects.snapshot");
    }

    private Store open(Path data) throws IOException {
        return new IndexedStore(time.loop("store"), RocksJournal.open(Files.createDirectories(data.resolve("store"))));
    }

    private void close(Store store) {
        store.close();
        time.advance(Duration.ZERO);
    }

    private void put(Store store, String name, byte[] value, long expected) {
        CompletableFuture<Entry> put = store.put(NODES + name, value, expected);
        time.advance(Duration.ZERO);
        put.join();
    }

    private int snapshot() {
        return runner.run("apiserver", "snapshot", "--data-dir", data.toString(), file.toString());
    }

    private int restore(Path to) {
        return runner.run("apiserver", "restore", "--data-dir", to.toString(), file.toString());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    @Tag("W71")
    void whatIsSavedBesideARunningServerComesBackElsewhere() throws Exception {
        // given a running server with a changed, a removed and a binary object
        Store store = open(data);
        put(store, "n1", bytes("{\"kind\":\"Node\"}"), 0);
        put(store, "n1", bytes("{\"kind\":\"Node\",\"note\":\"ä\\n\"}"), 1);
        put(store, "n2", new byte[] {'k', '8', 's', 0, (byte) 0xff}, 0);
        put(store, "n3", bytes("{}"), 0);
        CompletableFuture<Long> removed = store.delete(NODES + "n3", 4);
        time.advance(Duration.ZERO);
        assertThat(removed.join()).isEqualTo(5);
        // when it is saved, and restored elsewhere
        assertThat(snapshot()).as(err.toString()).isZero();
        assertThat(err.toString()).contains("writing 2 objects as of revision 5");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        Path other = directory.resolve("other");
        assertThat(restore(other)).as(err.toString()).isZero();
        // then the objects are there, with their revisions, and new ones come beyond a hundred days of 1,000 changes a
        // second
        Store restored = open(other);
        assertThat(restored.list(NODES, "", 0, 0).entries())
                .usingRecursiveComparison()
                .isEqualTo(store.list(NODES, "", 0, 0).entries());
        assertThat(restored.revision()).isGreaterThan(100L * 24 * 3_600 * 1_000);
        put(restored, "n3", bytes("{}"), 0);
        close(restored);
        // and the server that was saved has gone on
        put(store, "n4", bytes("{}"), 0);
        close(store);
        assertThat(Files.list(other).map(path -> path.getFileName().toString())).containsExactly("store");
    }

    /** A client of the first one would otherwise miss what the second one writes, until that has caught up. */
    @Test
    void snapshotThatIsRestoredAgainContinuesBeyondWhatWasWrittenMeanwhile() throws Exception {
        Store store = open(data);
        put(store, "n1", bytes("{}"), 0);
        close(store);
        assertThat(snapshot()).isZero();
        assertThat(restore(directory.resolve("first"))).isZero();
        Store first = open(directory.resolve("first"));
        put(first, "n2", bytes("{}"), 0);
        put(first, "n3", bytes("{}"), 0);
        long written = first.revision();
        close(first);

        Path second = directory.resolve("second");
        assertThat(runner(Instant.parse("2026-11-30T20:00:01Z"))
                        .run("apiserver", "restore", "--data-dir", second.toString(), file.toString()))
                .isZero();

        Store restored = open(second);
        assertThat(restored.revision()).isGreaterThan(written);
        close(restored);
    }

    @Test
    void refusesADataDirectoryThatHasAStore() throws Exception {
        close(open(data));
        assertThat(snapshot()).isZero();
        assertThat(restore(data)).isEqualTo(2);
        assertThat(err.toString()).contains(data.resolve("store") + " exists; expected a --data-dir without a store");
    }

    @Test
    void aLinkOrADirectoryIsNotReplacedByASnapshot() throws Exception {
        close(open(data));
        Path target = Files.writeString(directory.resolve("target"), "theirs");
        file = Files.createSymbolicLink(directory.resolve("link"), target);

        assertThat(snapshot()).isEqualTo(2);

        assertThat(err.toString())
                .contains(file + " is a symbolic link; expected a regular file or the name of a new one");
        assertThat(file).isSymbolicLink();
        assertThat(target).hasContent("theirs");
        file = directory;
        assertThat(snapshot()).isEqualTo(2);
        assertThat(err.toString()).contains(directory + " is a directory");
    }

    @Test
    void refusesToSaveWhatIsNotThere() {
        assertThat(snapshot()).isEqualTo(2);
        assertThat(err.toString())
                .contains(data.resolve("store")
                        + " does not exist; expected the --data-dir of a server with a store on disk");
    }

    @Test
    void noticesAllDamage() throws Exception {
        Store store = open(data);
        put(store, "n1", bytes("{}"), 0);
        put(store, "n2", bytes("{}"), 0);
        close(store);
        assertThat(snapshot()).isZero();
        String whole = Files.readString(file);
        assertThat(damaged(whole.replace("n2", "n3"))).contains("is damaged: its content has the SHA-256 ");
        assertThat(damaged(whole.substring(0, whole.indexOf("sha256")))).contains("it ends before its last line");
        assertThat(damaged(whole.substring(0, whole.length() / 2))).contains("is damaged");
        assertThat(damaged(whole + "more\n")).contains("there is text after its last line");
        assertThat(damaged(whole.replace("snapshot 1", "snapshot 2")))
                .contains("is a snapshot of version 2; expected version 1");
        assertThat(damaged("something else\n")).contains("is not a snapshot");
    }

    private String damaged(String content) throws IOException {
        Files.writeString(file, content);
        err.getBuffer().setLength(0);
        Path other = directory.resolve("other");
        assertThat(restore(other)).isEqualTo(1);
        try (Stream<Path> files = Files.exists(other) ? Files.list(other) : Stream.empty()) {
            assertThat(files).isEmpty();
        }
        return err.toString();
    }
}
