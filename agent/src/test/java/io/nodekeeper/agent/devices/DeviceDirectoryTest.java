package io.nodekeeper.agent.devices;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.Workers;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceDirectoryTest {
    @TempDir
    Path root;

    /** Another agent, or a kubelet, may still run. */
    @Test
    void socketsOfAnEarlierAgentStayUntilThisOneStarts() throws Exception {
        Path directory = Files.createDirectories(root.resolve("device-plugins"));
        Path registration = Files.writeString(directory.resolve(DeviceDirectory.SOCKET), "earlier");
        Path plugin = Files.writeString(directory.resolve("gpu.sock"), "earlier");
        ThreadLoop loop = new ThreadLoop("devices");
        try (Workers disk = new Workers("disk", 1, loop);
                DeviceDirectory devices = new DeviceDirectory(directory, resource -> {}, disk::call, loop)) {
            assertThat(registration).hasContent("earlier");
            assertThat(plugin).hasContent("earlier");
            assertThat(devices.failure()).isEmpty();

            devices.start();

            assertThat(plugin).doesNotExist();
            assertThat(Files.isRegularFile(registration)).as("a socket").isFalse();
            assertThat(Files.exists(registration)).isTrue();
            assertThat(devices.failure()).isEmpty();
            awaitCheckpoint(directory);
        } finally {
            loop.close();
        }
    }

    /** Another thread writes it. */
    private static void awaitCheckpoint(Path directory) throws InterruptedException {
        Path checkpoint = directory.resolve(DeviceDirectory.CHECKPOINT);
        for (int wait = 0; wait < 600 && !Files.exists(checkpoint); wait++) {
            Thread.sleep(50);
        }
        assertThat(checkpoint).isRegularFile();
    }
}
