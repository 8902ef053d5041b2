package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PartsTest {
    private final List<String> closed = new ArrayList<>();
    private final Parts parts = new Parts();

    private void open(String name) {
        parts.<AutoCloseable>opened(() -> closed.add(name));
    }

    private void openBroken(String name) {
        parts.<AutoCloseable>opened(() -> {
            throw new IOException(name);
        });
    }

    @Test
    void theNewestPartIsClosedFirst() throws Exception {
        open("server");
        open("node");

        parts.close();

        assertThat(closed).containsExactly("node", "server");
    }

    @Test
    void partsAreClosedAlthoughOthersFailAndAllFailuresAreReported() {
        open("server");
        openBroken("node");
        open("volume");
        openBroken("plugin");

        assertThatThrownBy(parts::close)
                .hasMessage("plugin")
                .satisfies(failure -> assertThat(failure.getSuppressed())
                        .extracting(Throwable::getMessage)
                        .containsExactly("node"));

        assertThat(closed).containsExactly("volume", "server");
    }

    @Test
    void eachPartIsClosedOnce() throws Exception {
        open("server");
        parts.close();

        parts.close();

        assertThat(closed).containsExactly("server");
    }
}
