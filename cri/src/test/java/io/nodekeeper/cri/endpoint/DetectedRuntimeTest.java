package io.nodekeeper.cri.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeVersion;
import io.nodekeeper.cri.Until;
import io.nodekeeper.cri.docker.FakeDocker;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which protocol is used at a socket. */
class DetectedRuntimeTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final RuntimeVersion DOCKER = new RuntimeVersion("docker", "20.10.24+dfsg1", "1.41.0");

    @TempDir
    Path dir;

    private ThreadLoop loop;

    @BeforeEach
    void start() {
        loop = new ThreadLoop("loop");
    }

    @AfterEach
    void stop() {
        loop.close();
    }

    @Test
    void theNameOfDockersSocketDecides() throws Exception {
        Path socket = dir.resolve("docker.sock");
        try (FakeDocker docker = new FakeDocker(socket);
                DetectedRuntime runtime = new DetectedRuntime(socket, loop)) {
            assertThat(Until.done(runtime.call(new RuntimeCall.GetVersion(), LONG)))
                    .isEqualTo(DOCKER);
            assertThat(docker.connectionsMade()).isEqualTo(1);
        }
    }

    @Test
    void dockerUnderAnotherNameIsFoundByItsAnswer() throws Exception {
        Path socket = dir.resolve("engine.sock");
        try (FakeDocker docker = new FakeDocker(socket);
                DetectedRuntime runtime = new DetectedRuntime(socket, loop)) {
            assertThat(Until.done(runtime.call(new RuntimeCall.GetVersion(), LONG)))
                    .isEqualTo(DOCKER);
            int made = docker.connectionsMade();
            assertThat(Until.done(runtime.call(new RuntimeCall.GetVersion(), LONG)))
                    .isEqualTo(DOCKER);
            // It is decided: no call over CRI any more.
            assertThat(docker.connectionsMade()).isEqualTo(made + 1);
        }
    }

    @Test
    void eventsOfDockerUnderAnotherNameAreDockers() throws Exception {
        Path socket = dir.resolve("engine.sock");
        try (FakeDocker docker = new FakeDocker(socket);
                DetectedRuntime runtime = new DetectedRuntime(socket, loop)) {
            assertThat(Until.failed(runtime.events(event -> {})))
                    .hasMessage("GetContainerEvents: NOT_FOUND: Docker answered with status 404: page not found");
        }
    }

    @Test
    void whatIsNeitherStaysUnreadable() throws Exception {
        Path socket = dir.resolve("garbage.sock");
        try (FakeDocker garbage = new FakeDocker(socket);
                DetectedRuntime runtime = new DetectedRuntime(socket, loop)) {
            garbage.raw("/_ping", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK");

            assertThat(Until.failed(runtime.call(new RuntimeCall.GetVersion(), LONG)))
                    .hasMessageStartingWith("Version: UNREADABLE: ");
        }
    }

    @Test
    void aSocketWithoutAProcessIsUnavailable() throws IOException, Exception {
        try (DetectedRuntime runtime = new DetectedRuntime(dir.resolve("nothing.sock"), loop)) {
            assertThat(Until.failed(runtime.call(new RuntimeCall.GetVersion(), LONG)))
                    .hasMessageStartingWith("Version: UNAVAILABLE: ");
        }
    }
}
