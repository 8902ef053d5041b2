package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.nodekeeper.store.StoreException;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

/** The file {@code acknowledged}: its format, torn writes, and its lock. */
@Isolated("It collects log lines, which needs logging to be set up.")
class HighWaterMarkTest {
    @TempDir
    Path directory;

    private Path file() {
        return directory.resolve("acknowledged");
    }

    /** A slot of the file: magic, sequence, value and the CRC-32 of these. */
    private static byte[] slot(long sequence, long value) {
        ByteBuffer slot = ByteBuffer.allocate(32)
                .put("NKMARK01".getBytes(StandardCharsets.US_ASCII))
                .putLong(sequence)
                .putLong(value);
        CRC32 crc = new CRC32();
        crc.update(slot.array(), 0, 24);
        return slot.putLong(crc.getValue()).array();
    }

    private byte[] bytes(int from, int length) throws IOException {
        return Arrays.copyOfRange(Files.readAllBytes(file()), from, from + length);
    }

    private void overwrite(int at, byte... bytes) throws IOException {
        try (RandomAccessFile content = new RandomAccessFile(file().toFile(), "rw")) {
            content.seek(at);
            content.write(bytes);
        }
    }

    @Test
    void twoSectorsAreWrittenAlternatelyAndTheThirdHasTheProcess() throws Exception {
        try (HighWaterMark mark = HighWaterMark.create(directory)) {
            // given a mark that was written for the first time
            mark.begin(5);
            assertThat(Files.size(file())).isEqualTo(1_536);
            assertThat(bytes(0, 512)).containsOnly(0);
            assertThat(bytes(512, 32)).isEqualTo(slot(1, 5));
            assertThat(bytes(1_024, 32))
                    .isEqualTo(slot(1, ProcessHandle.current().pid()));
            // when it advances
            mark.advance(6);
            // then the other sector has the new revision, and the first one still has the old one
            assertThat(bytes(0, 32)).isEqualTo(slot(2, 6));
            assertThat(bytes(512, 32)).isEqualTo(slot(1, 5));
            mark.advance(9);
            assertThat(bytes(0, 32)).isEqualTo(slot(2, 6));
            assertThat(bytes(512, 32)).isEqualTo(slot(3, 9));
            assertThat(mark.read()).hasValue(9);
        }
        assertThat(HighWaterMark.read(directory)).hasValue(9);
    }

    @Test
    @Tag("W85")
    void otherSlotCountsIfAnyByteOfTheNewestSlotIsDamaged() throws Exception {
        try (HighWaterMark mark = HighWaterMark.create(directory)) {
            mark.begin(5);
            mark.advance(6);
        }
        byte[] whole = Files.readAllBytes(file());
        for (int at = 0; at < 32; at++) {
            overwrite(at, (byte) (whole[at] ^ 1));
            assertThat(HighWaterMark.read(directory)).as("byte %s", at).hasValue(5);
            overwrite(at, whole[at]);
        }
        assertThat(HighWaterMark.read(directory)).hasValue(6);
        // and if the newest slot is in the other sector, the same
        try (HighWaterMark mark = HighWaterMark.lock(directory).orElseThrow()) {
            mark.advance(7);
            mark.advance(8);
            assertThat(bytes(0, 32)).isEqualTo(slot(2, 8));
        }
        overwrite(0, new byte[32]);
        overwrite(512, slot(3, 4));
        assertThat(HighWaterMark.read(directory)).hasValue(4);
        overwrite(512, new byte[32]);
        assertThat(HighWaterMark.read(directory)).isEmpty();
    }

    @Test
    void truncatedFileIsReadAsFarAsItGoes() throws Exception {
        try (HighWaterMark mark = HighWaterMark.create(directory)) {
            mark.begin(5);
            mark.advance(6);
        }
        byte[] whole = Files.readAllBytes(file());
        for (int length = 0; length <= whole.length; length++) {
            Files.write(file(), Arrays.copyOf(whole, length));
            OptionalLong expected = length < 32 ? OptionalLong.empty() : OptionalLong.of(6);
            assertThat(HighWaterMark.read(directory)).as("%s bytes", length).isEqualTo(expected);
            try (HighWaterMark mark = HighWaterMark.lock(directory).orElseThrow()) {
                assertThat(mark.read()).as("%s bytes", length).isEqualTo(expected);
            }
        }
        assertThat(Files.readAllBytes(file())).isEqualTo(whole);
    }

    @Test
    @Tag("W85")
    void revisionOfTheStartReplacesTheMarkOfTheFile() throws Exception {
        try (HighWaterMark mark = HighWaterMark.create(directory)) {
            mark.begin(5);
            mark.advance(6);
            mark.advance(7);
            mark.advance(8);
        }
        byte[] whole = Files.readAllBytes(file());
        // when a store starts with the complete or a truncated file, at an older or a newer revision
        for (int length = 0; length <= whole.length; length += 8) {
            for (long revision : List.of(3L, 12L)) {
                Files.write(file(), Arrays.copyOf(whole, length));
                try (HighWaterMark mark = HighWaterMark.create(directory)) {
                    mark.begin(revision);
                    // then the mark is the revision of the start
                    assertThat(mark.read()).as("%s bytes", length).hasValue(revision);
                    mark.advance(20);
                    assertThat(mark.read()).as("%s bytes", length).hasValue(20);
                }
                assertThat(Files.size(file())).isEqualTo(1_536);
            }
        }
    }

    @Test
    void powerCutDoesNotUndoASync() {
        try (HighWaterMark mark = HighWaterMark.create(directory)) {
            mark.begin(5);
            assertThat(mark.synced()).isEqualTo(5);
            mark.advance(6);
            assertThat(mark.synced()).isEqualTo(5);
            mark.advanceAndSync(7);
            assertThat(mark.synced()).isEqualTo(7);
            assertThat(mark.read()).hasValue(7);
        }
    }

    @Test
    void storeWithoutAMarkIsNotLockedAndNothingIsCreated() throws Exception {
        assertThat(HighWaterMark.lock(directory)).isEmpty();
        assertThat(HighWaterMark.read(directory)).isEmpty();
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void secondLockInThisProcessIsRefusedUntilTheFirstIsReleased() {
        HighWaterMark first = HighWaterMark.create(directory);
        first.begin(5);
        assertThatThrownBy(() -> HighWaterMark.lock(directory))
                .isInstanceOf(StoreException.class)
                .hasMessage("the store in " + directory
                        + " is in use by this process; stop that, or use another --data-dir");
        first.close();
        HighWaterMark second = HighWaterMark.lock(directory).orElseThrow();
        assertThat(second.read()).hasValue(5);
        second.close();
    }

    /** Locks the mark in the directory of the first argument, writes it if there is a second one, and waits for its input's end. */
    static final class Holder {
        private Holder() {}

        public static void main(String[] arguments) throws IOException {
            try (HighWaterMark mark = HighWaterMark.create(Path.of(arguments[0]))) {
                if (arguments.length > 1) {
                    mark.begin(Long.parseLong(arguments[1]));
                }
                System.out.println("locked");
                System.in.read();
            } catch (StoreException e) {
                System.out.println(e.getMessage());
            }
        }
    }

    private Process holder(String... revision) throws IOException {
        Process process = start(revision);
        assertThat(process.inputReader().readLine()).isEqualTo("locked");
        return process;
    }

    private Process start(String... revision) throws IOException {
        Set<String> classes = new LinkedHashSet<>();
        for (Class<?> needed : List.of(Holder.class, HighWaterMark.class, org.slf4j.Logger.class)) {
            classes.add(Path.of(needed.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .getPath())
                    .toString());
        }
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                String.join(File.pathSeparator, classes),
                Holder.class.getName(),
                directory.toString());
        builder.command().addAll(List.of(revision));
        return builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
    }

    @Test
    void errorNamesTheProcessThatHasTheStoreOpen() throws Exception {
        Process process = holder("5");
        try {
            String command = process.info().command().orElseThrow();
            assertThatThrownBy(() -> HighWaterMark.lock(directory))
                    .hasMessage("the store in " + directory + " is in use by process " + process.pid() + " (" + command
                            + "); stop that, or use another --data-dir");
            // and the refused attempt does not leak a file descriptor
            assertThat(openFiles()).doesNotContain(file());
            // and a process that no longer exists is named without its command
            overwrite(1_024, slot(1, 99_999_999L));
            assertThatThrownBy(() -> HighWaterMark.lock(directory))
                    .hasMessageContaining(" is in use by process 99999999; stop that");
            // and a process whose name cannot be read is another process
            overwrite(1_024, (byte) 'X');
            assertThatThrownBy(() -> HighWaterMark.lock(directory))
                    .hasMessageContaining(" is in use by another process; stop that");
        } finally {
            end(process);
        }
        HighWaterMark.lock(directory).orElseThrow().close();
    }

    @Test
    void errorNamesNoProcessBeforeTheMarkIsWritten() throws Exception {
        Process process = holder();
        try {
            assertThatThrownBy(() -> HighWaterMark.lock(directory))
                    .hasMessageContaining(" is in use by another process; stop that");
        } finally {
            end(process);
        }
    }

    @Test
    @Tag("W85")
    void refusedSecondLockDoesNotReleaseTheFirst() throws Exception {
        // POSIX releases the locks of a process on a file when the process closes any descriptor of that file
        try (HighWaterMark first = HighWaterMark.create(directory)) {
            first.begin(5);
            // given that this process refused to lock the mark a second time, and that the attempt was
            // garbage-collected
            for (int i = 0; i < 5; i++) {
                assertThatThrownBy(() -> HighWaterMark.lock(directory)).hasMessageContaining("in use by this process");
                System.gc();
            }
            // when another process locks the mark, then it is refused
            Process process = start();
            try {
                assertThat(process.inputReader().readLine())
                        .startsWith("the store in " + directory + " is in use by process "
                                + ProcessHandle.current().pid());
            } finally {
                end(process);
            }
        }
    }

    private static List<Path> openFiles() throws IOException {
        List<Path> open = new ArrayList<>();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors.toList()) {
                try {
                    open.add(Files.readSymbolicLink(descriptor));
                } catch (NoSuchFileException e) {
                    // Closed by another thread meanwhile.
                }
            }
        }
        return open;
    }

    private static void end(Process process) throws Exception {
        process.getOutputStream().close();
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void errorNamesAMarkThatIsNotAFile() throws Exception {
        Files.createDirectory(file());
        assertThatThrownBy(() -> HighWaterMark.read(directory))
                .isInstanceOf(StoreException.class)
                .hasMessageStartingWith("cannot read " + file() + ": ");
        assertThatThrownBy(() -> HighWaterMark.lock(directory))
                .isInstanceOf(StoreException.class)
                .hasMessageStartingWith("cannot open " + file() + ": ");
    }

    @Test
    void markThatCannotBeWrittenStaysBehindAndIsLoggedOnce() {
        Logger logger = (Logger) LoggerFactory.getLogger(HighWaterMark.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        logger.addAppender(lines);
        try {
            HighWaterMark mark = HighWaterMark.create(directory);
            mark.begin(5);
            mark.close();
            // when the file is closed, so that each write fails
            mark.advance(6);
            mark.advance(7);
            mark.advanceAndSync(8);
            // then the mark claims no more than before, and the failure is logged once, that of the sync apart
            assertThat(mark.synced()).isEqualTo(5);
            assertThat(HighWaterMark.read(directory)).hasValue(5);
            assertThat(lines.list)
                    .extracting(line -> line.getFormattedMessage().replaceAll("(mark|store|sync [^:]+).*", "$1"))
                    .containsExactly(
                            "cannot write " + file() + ", which stays behind the store", "cannot sync " + file());
            assertThatThrownBy(mark::read).hasMessageStartingWith("cannot read " + file() + ": ");
            assertThatThrownBy(() -> mark.begin(9)).hasMessageStartingWith("cannot write " + file() + ": ");
        } finally {
            logger.detachAppender(lines);
        }
    }

    @Test
    @Tag("W85")
    void checkInTheSameProcessDoesNotReleaseTheLock() throws Exception {
        try (HighWaterMark mark = HighWaterMark.create(directory)) {
            assertThat(HighWaterMark.read(directory)).isEmpty();
            mark.begin(5);
            // given that this process read the mark which it has locked
            assertThat(HighWaterMark.read(directory)).hasValue(5);
            // when another process locks it, then it is refused
            Process process = start();
            try {
                assertThat(process.inputReader().readLine()).startsWith("the store in " + directory + " is in use by ");
            } finally {
                end(process);
            }
        }
    }
}
