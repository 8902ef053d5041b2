package io.nodekeeper.agent.culprit.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.scan.proc.SystemCalls;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the kernel's texts about system calls mean. */
class SystemCallsTest {
    @ParameterizedTest
    @CsvSource({
        "false, 56, true", // clone
        "false, 57, true", // fork
        "false, 58, true", // vfork
        "false, 435, true", // clone3
        "false, 1, false",
        "false, 220, false",
        "true, 220, true", // clone
        "true, 435, true", // clone3
        "true, 56, false", // openat
        "true, 57, false" // close
    })
    void shouldTellWhatStartsAProcess(boolean arm, int number, boolean starts) {
        SystemCalls calls = new SystemCalls(arm);

        assertThat(calls.startsProcess(number + " 0x4111 0x7f 0x0 0x0 0x0 0x0 0x7ffe 0x7fdf\n"))
                .isEqualTo(starts);
    }

    @ParameterizedTest
    @CsvSource({
        "false, 1 0x3 0x7f, 3", // write
        "false, 74 0x1f 0x7f, 31", // fsync
        "false, 257 0x4 0x7f, 4", // openat
        "false, 257 0xffffff9c 0x7f, ", // openat of the working directory
        "false, 9 0x3 0x7f, ", // mmap of an address
        "false, 61 0x4d2 0x7f, ", // wait4
        "true, 64 0x3 0x7f, 3", // write
        "true, 82 0x3 0x7f, 3", // fsync
        "true, 260 0x4d2 0x7f, ", // wait4
        "false, running, ",
        "false, -1 0x7 0x7f, ",
        "false, '', "
    })
    void shouldTakeTheFirstArgumentForADescriptorOnlyWhereItIsOne(boolean arm, String call, Integer descriptor) {
        assertThat(new SystemCalls(arm).descriptor(call)).isEqualTo(Optional.ofNullable(descriptor));
    }
}
