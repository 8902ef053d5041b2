package io.nodekeeper.agent.logs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Log files of a runtime, as clients see them. */
class LogReaderTest {
    private static final LogOptions FOLLOW =
            new LogOptions(true, false, OptionalLong.empty(), Optional.empty(), OptionalLong.empty());

    @TempDir
    Path directory;

    @Test
    void shouldShowTheContentOfRecords() throws Exception {
        Path log = log("""
                2026-01-01T00:00:01.5Z stdout F one
                2026-01-01T00:00:02Z stderr F two  with spaces
                2026-01-01T00:00:03Z stdout F\s
                """);

        assertThat(all(log, LogOptions.ALL)).isEqualTo("one\ntwo  with spaces\n\n");
    }

    @Test
    void shouldJoinPartsOfALine() throws Exception {
        Path log = log("""
                2026-01-01T00:00:01Z stdout P be
                2026-01-01T00:00:01Z stdout P gin
                2026-01-01T00:00:02Z stdout F ning
                2026-01-01T00:00:03Z stdout F next
                """);

        assertThat(all(log, LogOptions.ALL)).isEqualTo("beginning\nnext\n");
        assertThat(all(log, timestamps()))
                .isEqualTo("2026-01-01T00:00:01.000000000Z beginning\n2026-01-01T00:00:03.000000000Z next\n");
    }

    @Test
    void shouldKeepTheZoneOfTimes() throws Exception {
        Path log = log("2026-01-01T02:00:01.123456789+02:00 stdout F one\n");

        assertThat(all(log, timestamps())).isEqualTo("2026-01-01T02:00:01.123456789+02:00 one\n");
    }

    @Test
    void shouldLeaveOutWhatIsMalformed() throws Exception {
        Path log = log("""
                nonsense
                2026-01-01T00:00:01Z stdlog F other stream
                2026-01-01T00:00:01Z stdout X other tag

                2026-01-01T00:00:01Z stdout F:more good
                """);

        assertThat(all(log, LogOptions.ALL)).isEqualTo("good\n");
    }

    @Test
    void shouldBeginWithTheLastLines() throws Exception {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 20_000; i++) {
            text.append("2026-01-01T00:00:01Z stdout F line ").append(i).append('\n');
        }
        Path log = log(text.toString());

        assertThat(all(log, tail(2))).isEqualTo("line 19998\nline 19999\n");
        assertThat(all(log, tail(0))).isEmpty();
        assertThat(all(log, tail(10_000))).startsWith("line 10000\n").hasLineCount(10_000);
        assertThat(all(log, tail(20_000))).startsWith("line 0\n");
        assertThat(all(log, tail(Long.MAX_VALUE))).startsWith("line 0\n");
    }

    @Test
    void shouldLeaveOutWhatIsTooOld() throws Exception {
        Path log = log("""
                2026-01-01T00:00:01Z stdout F before
                2026-01-01T00:00:02Z stdout F at
                no-time stdout F when
                2026-01-01T00:00:03Z stdout F after
                """);
        LogOptions since = new LogOptions(
                false,
                false,
                OptionalLong.empty(),
                Optional.of(Instant.parse("2026-01-01T00:00:02Z")),
                OptionalLong.empty());

        assertThat(all(log, since)).isEqualTo("at\nafter\n");
    }

    @Test
    void shouldEndAtTheLimit() throws Exception {
        Path log = log("2026-01-01T00:00:01Z stdout F one\n2026-01-01T00:00:02Z stdout F two\n");
        LogOptions limited = new LogOptions(true, false, OptionalLong.empty(), Optional.empty(), OptionalLong.of(6));

        try (LogReader reader = new LogReader(log, limited)) {
            LogReader.Step step = reader.read();
            assertThat(text(step.bytes())).isEqualTo("one\ntw");
            assertThat(step.next()).isEqualTo(LogReader.Next.DONE);
        }
    }

    @Test
    void shouldShowALineThatIsWrittenInTwoGoesOnce() throws Exception {
        Path log = log("2026-01-01T00:00:01Z stdout F on");
        try (LogReader reader = new LogReader(log, FOLLOW)) {
            assertThat(upToEnd(reader)).isEmpty();

            append(log, "e\n2026-01-01T00:00:02Z stdout F two\n");

            assertThat(upToEnd(reader)).isEqualTo("one\ntwo\n");
        }
    }

    @Test
    void shouldShowTheLastLineOfALogThatBreaksOff() throws Exception {
        Path log = log("2026-01-01T00:00:01Z stdout F on");
        try (LogReader reader = new LogReader(log, LogOptions.ALL)) {
            assertThat(upToEnd(reader)).isEmpty();
            assertThat(text(reader.remainder())).isEqualTo("on\n");
        }
    }

    @Test
    void shouldGoOnWithTheFileThatTakesItsPlace() throws Exception {
        Path log = log("2026-01-01T00:00:01Z stdout F one\n");
        try (LogReader reader = new LogReader(log, FOLLOW)) {
            assertThat(upToEnd(reader)).isEqualTo("one\n");

            Path old = Files.move(log, directory.resolve("0.log.1"));
            append(old, "2026-01-01T00:00:02Z stdout F two\n");
            assertThat(upToEnd(reader)).isEqualTo("two\n");
            log("2026-01-01T00:00:04Z stdout F four\n");
            append(old, "2026-01-01T00:00:03Z stdout F three\n");

            assertThat(upToEnd(reader)).isEqualTo("three\nfour\n");
        }
    }

    @Test
    void shouldBeginAgainWhenTheFileWasEmptied() throws Exception {
        Path log = log("2026-01-01T00:00:01Z stdout F a longer line\n");
        try (LogReader reader = new LogReader(log, FOLLOW)) {
            assertThat(upToEnd(reader)).isEqualTo("a longer line\n");

            Files.writeString(log, "2026-01-01T00:00:02Z stdout F b\n");

            assertThat(upToEnd(reader)).isEqualTo("b\n");
        }
    }

    @Test
    void shouldHoldNoMoreThanTheLongestRecord() throws Exception {
        String huge = "x".repeat(3 * LogReader.LONGEST);
        Path log = log("2026-01-01T00:00:01Z stdout F " + huge + "\n2026-01-01T00:00:02Z stdout F next\n");

        assertThat(all(log, LogOptions.ALL)).isEqualTo("next\n");
    }

    @Test
    void shouldSayThatThereIsNoLog() {
        assertThatThrownBy(() -> new LogReader(directory.resolve("none.log"), LogOptions.ALL).open())
                .isInstanceOf(NoSuchFileException.class);
    }

    private Path log(String text) throws IOException {
        return Files.writeString(directory.resolve("0.log"), text);
    }

    private static void append(Path file, String text) throws IOException {
        Files.writeString(file, text, StandardOpenOption.APPEND);
    }

    private static LogOptions tail(long lines) {
        return new LogOptions(false, false, OptionalLong.of(lines), Optional.empty(), OptionalLong.empty());
    }

    private static LogOptions timestamps() {
        return new LogOptions(false, true, OptionalLong.empty(), Optional.empty(), OptionalLong.empty());
    }

    private static String all(Path log, LogOptions options) throws IOException {
        try (LogReader reader = new LogReader(log, options)) {
            return upToEnd(reader);
        }
    }

    private static String upToEnd(LogReader reader) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        LogReader.Step step = reader.read();
        while (step.next() == LogReader.Next.MORE) {
            out.writeBytes(step.bytes());
            step = reader.read();
        }
        out.writeBytes(step.bytes());
        return text(out.toByteArray());
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
