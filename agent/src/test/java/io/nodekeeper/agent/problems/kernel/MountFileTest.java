package io.nodekeeper.agent.problems.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class MountFileTest {
    private static final Path MOUNTS = Path.of("/proc/self/mountinfo");

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));

    @Test
    void theTextIsReadAgainOnlyAfterItsAgeWhileNoMountChanges() throws IOException {
        try (MountFile file = new MountFile(MOUNTS, time.loop("agent").clock())) {
            String first = file.read();
            assertThat(first).contains(" / ");

            time.advance(MountFile.AGE.minus(Duration.ofMillis(1)));
            String second = file.read();
            time.advance(Duration.ofMillis(1));
            String third = file.read();

            assertThat(second).isEqualTo(first);
            assertThat(third).isEqualTo(first);
            assertThat(third).isNotSameAs(second);
        }
    }

    @Test
    void aFileThatCannotBeReadIsNamed() throws IOException {
        try (MountFile file =
                new MountFile(Path.of("/proc/self/nothing"), time.loop("agent").clock())) {
            assertThatThrownBy(file::read).isInstanceOf(IOException.class).hasMessageContaining("/proc/self/nothing");
        }
    }
}
