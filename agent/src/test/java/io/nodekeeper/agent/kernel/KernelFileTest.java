package io.nodekeeper.agent.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterContainer;

class KernelFileTest {
    private static final Path DIRECTORY = create();

    private static Path create() {
        try {
            return Files.createTempDirectory("kernel-file");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @AfterContainer
    static void remove() throws IOException {
        try (var files = Files.list(DIRECTORY)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(DIRECTORY);
    }

    @Example
    @Tag("A91")
    void readsEveryDigitOfTheKernelsRealLimits() throws IOException {
        for (String name : List.of("kernel/pid_max", "kernel/threads-max", "fs/file-max", "vm/swappiness")) {
            Path file = Path.of("/proc/sys").resolve(name);

            assertThat(KernelFile.number(file)).as(name).isEqualTo(Long.parseLong(oneRead(file)));
        }
        assertThat(KernelFile.number(Path.of("/proc/sys/kernel/pid_max"))).isGreaterThan(300);
    }

    @Example
    void readsListsOfNumbersAndTextsOfTheKernel() throws IOException {
        for (String name : List.of("kernel/printk", "fs/inode-state", "kernel/osrelease", "kernel/random/boot_id")) {
            Path file = Path.of("/proc/sys").resolve(name);

            assertThat(KernelFile.text(file).strip()).as(name).isEqualTo(oneRead(file));
        }
        assertThat(KernelFile.lines(Path.of("/proc/self/mountinfo")))
                .isNotEmpty()
                .allMatch(line -> line.contains(" - "));
    }

    @Property(tries = 200)
    void readsFilesOfEverySize(@ForAll @IntRange(max = 70_000) int size) throws IOException {
        Path file = Files.writeString(DIRECTORY.resolve("sized"), text(size));

        assertThat(KernelFile.text(file)).isEqualTo(text(size));
    }

    @Example
    void readsFilesAroundTheSizesOfItsBuffers() throws IOException {
        for (int border : List.of(0, 4_096, 16_384, 65_536)) {
            for (int size = Math.max(0, border - 1); size <= border + 1; size++) {
                Path file = Files.writeString(DIRECTORY.resolve("border"), text(size));

                assertThat(KernelFile.text(file)).isEqualTo(text(size));
                assertThat(KernelFile.beginning(file, 4_096)).isEqualTo(text(Math.min(size, 4_096)));
            }
        }
    }

    @Example
    void refusesAFileThatIsLongerThanTheLimit() throws IOException {
        Path longest = Files.write(DIRECTORY.resolve("longest"), new byte[KernelFile.LIMIT]);
        Path longer = Files.write(DIRECTORY.resolve("longer"), new byte[KernelFile.LIMIT + 1]);

        assertThat(KernelFile.text(longest)).hasSize(KernelFile.LIMIT);
        assertThatThrownBy(() -> KernelFile.text(longer))
                .isInstanceOf(IOException.class)
                .hasMessage(longer + " has more than 4194304 bytes, which is the limit");
        assertThat(KernelFile.beginning(Path.of("/dev/zero"), 10_000)).hasSize(10_000);
    }

    /** A file that is cut off must not pass as complete because characters were counted. */
    @Example
    void countsBytesAndNotCharacters() throws IOException {
        Path longer = Files.writeString(DIRECTORY.resolve("wide"), "\u00e9" + "x".repeat(KernelFile.LIMIT));

        assertThatThrownBy(() -> KernelFile.text(longer))
                .isInstanceOf(IOException.class)
                .hasMessage(longer + " has more than 4194304 bytes, which is the limit");
    }

    @Example
    void errorsNameTheFile() throws IOException {
        Path word = Files.writeString(DIRECTORY.resolve("word"), "max\n");

        assertThatThrownBy(() -> KernelFile.number(word)).hasMessage(word + ": expected a number, got \"max\"");
        assertThatThrownBy(() -> KernelFile.text(DIRECTORY)).hasMessageStartingWith(DIRECTORY.toString());
        assertThatThrownBy(() -> KernelFile.text(Path.of("/proc/self/mem"))).hasMessageStartingWith("/proc/self/mem: ");
    }

    private static String text(int size) {
        StringBuilder text = new StringBuilder(size);
        for (int i = 0; i < size; i++) {
            text.append((char) ('a' + i % 23));
        }
        return text.toString();
    }

    private static String oneRead(Path file) throws IOException {
        try (FileInputStream in = new FileInputStream(file.toFile())) {
            byte[] page = new byte[4_096];
            return new String(page, 0, Math.max(0, in.read(page)), StandardCharsets.UTF_8).strip();
        }
    }
}
