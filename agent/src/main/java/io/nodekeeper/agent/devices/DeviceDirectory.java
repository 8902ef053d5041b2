package io.nodekeeper.agent.devices;

import io.nodekeeper.agent.checkpoint.CheckpointFile;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.devices.GrpcDevicePlugin;
import io.nodekeeper.cri.devices.PluginRegistration;
import io.nodekeeper.cri.devices.RegistrationServer;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.TimerThread;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory of device plugins: their sockets, the one at which they register, and the checkpoint. Plugins notice that the agent
 * has started again, because it makes its socket again. Creates the {@link DeviceManager} and owns its threads.
 */
public final class DeviceDirectory implements AutoCloseable {
    /** Kubernetes' name of the checkpoint. */
    static final String CHECKPOINT = "kubelet_internal_checkpoint";
    /** Kubernetes' name of the socket. */
    static final String SOCKET = "kubelet.sock";

    private static final Logger log = LoggerFactory.getLogger(DeviceDirectory.class);

    private final Loop loop;
    private final ScheduledExecutorService timer = TimerThread.named("device-plugins-timer");
    private final Path directory;
    private final DeviceManager manager;
    private volatile String fault = "";
    private volatile @Nullable RegistrationServer server;

    /**
     * Makes {@code directory} and reads the checkpoint; blocks for that. Changes nothing that another agent or a kubelet uses, in case
     * the start is refused.
     *
     * @param registered receives the resource of each registration
     * @throws IOException if the directory cannot be made
     */
    public DeviceDirectory(Path directory, Consumer<String> registered, BlockingCalls disk, Loop loop)
            throws IOException {
        this.loop = loop;
        this.directory = directory;
        Files.createDirectories(
                directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-x---")));
        Optional<DeviceCheckpoint> earlier = read(directory.resolve(CHECKPOINT));
        manager = new DeviceManager(
                directory, earlier, socket -> new GrpcDevicePlugin(socket, loop, timer), registered, disk, loop);
    }

    /** Removes the sockets of an earlier agent or kubelet, and listens. Blocks for its files. */
    public void start() {
        try {
            clean();
            server = new RegistrationServer(directory.resolve(SOCKET), this::register);
        } catch (IOException e) {
            fault = Failures.text(e);
            log.error("Device plugins cannot register: {}", fault);
        }
        loop.execute(manager::begin);
    }

    /** What an earlier agent or a kubelet left. A damaged file is like one without content. */
    private static Optional<DeviceCheckpoint> read(Path file) {
        try {
            return CheckpointFile.read(file).map(DeviceCheckpoint::read);
        } catch (IOException | IllegalArgumentException e) {
            log.warn(
                    "Continue after failing to read checkpoint file {}. Device allocation info may NOT be up-to-date: {}",
                    file,
                    e.getMessage());
            return Optional.of(DeviceCheckpoint.EMPTY);
        }
    }

    private void clean() throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                if (!file.endsWith(CHECKPOINT) && !Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    private CompletableFuture<Void> register(PluginRegistration request) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        loop.execute(() -> manager.register(request).whenComplete((registered, error) -> {
            if (error == null) {
                done.complete(null);
            } else {
                done.completeExceptionally(error);
            }
        }));
        return done;
    }

    /** Used on the loop. */
    public DeviceManager manager() {
        return manager;
    }

    /** Why plugins cannot register, in the kubelet's words; empty if they can. May be called from any thread. */
    public Optional<String> failure() {
        RegistrationServer listening = server;
        Optional<String> why =
                listening == null ? Optional.of(fault).filter(text -> !text.isEmpty()) : listening.failure();
        return why.map(
                text -> "device plugin registration gRPC server failed and no device plugins can register: " + text);
    }

    /** Closes all connections. Files stay. */
    @Override
    public void close() {
        loop.execute(manager::stop);
        RegistrationServer listening = server;
        if (listening != null) {
            try {
                listening.close();
            } catch (IOException e) {
                log.debug("the socket of device plugins cannot be closed", e);
            }
        }
        timer.shutdownNow();
    }
}
