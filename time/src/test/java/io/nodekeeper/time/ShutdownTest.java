package io.nodekeeper.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ShutdownTest {
    @Test
    void aPartThatFailsToStopKeepsNoOtherFromIt() {
        // given four parts, of which two fail
        List<String> stopped = new ArrayList<>();

        // when the process is asked to exit
        Shutdown.runAll(
                () -> {
                    throw new IllegalStateException("stuck");
                },
                () -> stopped.add("controller"),
                () -> {
                    throw new OutOfMemoryError("unable to create native thread");
                },
                () -> stopped.add("server"));

        // then the others stop, in order
        assertThat(stopped).containsExactly("controller", "server");
    }
}
