package io.nodekeeper.agent.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages to a real socket, at which a Perl program listens: Perl is part of every Debian. */
class NotifySocketTest {
    /** Prints the first message that arrives at the address, whose first character @ stands for a byte that is 0. */
    private static final String LISTENER = """
            use Socket; my $path = shift; my $name = $path; $name =~ s/^@/\\0/;
            socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die; bind($socket, pack("S a*", AF_UNIX, $name)) or die "$!";
            $| = 1; print "ready\\n"; alarm 20; recv($socket, my $text, 100, 0) // die; print $text;
            """;

    @TempDir
    Path directory;

    private static String heard(String address, String message) throws Exception {
        Process listener = new ProcessBuilder("perl", "-e", LISTENER, address)
                .redirectErrorStream(true)
                .start();
        try {
            assertThat(listener.inputReader().readLine()).isEqualTo("ready");
            new NotifySocket(address).send(message);
            String text = listener.inputReader().readLine();
            assertThat(listener.waitFor(20, TimeUnit.SECONDS)).isTrue();
            return text;
        } finally {
            listener.destroyForcibly();
        }
    }

    @Test
    void messageArrivesAtAPath() throws Exception {
        assertThat(heard(directory.resolve("notify").toString(), "WATCHDOG=1")).isEqualTo("WATCHDOG=1");
    }

    @Test
    void messageArrivesAtANameOfTheKernel() throws Exception {
        assertThat(heard("@nodekeeper-test-" + ProcessHandle.current().pid(), "WATCHDOG=1"))
                .isEqualTo("WATCHDOG=1");
    }

    @Test
    void nobodyListens() throws Exception {
        Path missing = directory.resolve("missing");
        assertThatThrownBy(() -> new NotifySocket(missing.toString()).send("WATCHDOG=1"))
                .isInstanceOf(IOException.class)
                .hasMessage("sendto of " + missing + " failed: no such file or directory");
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> new NotifySocket(file.toString()).send("WATCHDOG=1"))
                .hasMessage("sendto of " + file + " failed: connection refused");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "@", "run/notify", "vsock:2:9"})
    void otherTextsAreNoAddress(String text) {
        assertThat(NotifySocket.isAddress(text)).isFalse();
    }

    @Test
    void pathThatTheKernelCannotTakeIsNoAddress() {
        assertThat(NotifySocket.isAddress("/" + "a".repeat(106))).isTrue();
        assertThat(NotifySocket.isAddress("/" + "a".repeat(107))).isFalse();
    }
}
