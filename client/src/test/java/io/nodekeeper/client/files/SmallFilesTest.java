package io.nodekeeper.client.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SmallFilesTest {
    @TempDir
    Path directory;

    private Path sized(long length) throws IOException {
        Path file = directory.resolve("sized");
        try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "rw")) {
            content.setLength(length);
        }
        return file;
    }

    @Test
    void aFileOfTheLimitIsReadAndALongerOneIsNot() throws Exception {
        assertThat(SmallFiles.bytes(sized(SmallFiles.LIMIT))).hasSize(8_388_608);
        assertThatThrownBy(() -> SmallFiles.bytes(sized(SmallFiles.LIMIT + 1L)))
                .hasMessageEndingWith("/sized has more than 8388608 bytes, which is the limit");
        assertThatThrownBy(() -> SmallFiles.bytes(sized(1L << 40))).hasMessageContaining("has more than 8388608 bytes");
    }

    @Test
    void whatHasNoEndIsNotRead() {
        for (String device : new String[] {"/dev/zero", "/dev/full", "/dev/urandom"}) {
            assertThatThrownBy(() -> SmallFiles.bytes(Path.of(device)))
                    .hasMessage(device + " is a device, pipe or socket; expected a regular file");
        }
        assertThatThrownBy(() -> SmallFiles.text(directory))
                .hasMessage(directory + " is a directory; expected a regular file");
    }

    @Test
    void textIsTextOrAnError() throws Exception {
        Path file = Files.writeString(directory.resolve("text"), "ä\n");
        assertThat(SmallFiles.text(file)).isEqualTo("ä\n");
        Path binary = Files.write(directory.resolve("binary"), new byte[] {(byte) 0xff});
        assertThatThrownBy(() -> SmallFiles.text(binary)).isInstanceOf(CharacterCodingException.class);
        assertThatThrownBy(() -> SmallFiles.text(directory.resolve("none"))).isInstanceOf(NoSuchFileException.class);
    }
}
