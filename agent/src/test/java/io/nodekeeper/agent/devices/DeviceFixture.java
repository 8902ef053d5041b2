package io.nodekeeper.agent.devices;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.cri.devices.PluginRegistration;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.Loop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** The devices of a simulated node, with the checkpoint that an earlier one left in the same directory. */
public final class DeviceFixture {
    private final Map<String, FakePlugin> plugins = new HashMap<>();
    private final List<String> registered = new ArrayList<>();
    private final DeviceManager manager;

    public DeviceFixture(Path directory, Loop loop) {
        manager = new DeviceManager(
                directory,
                earlier(directory),
                socket -> plugins.computeIfAbsent(socket.getFileName().toString(), name -> new FakePlugin()),
                registered::add,
                new AtOnce(),
                loop);
    }

    private static Optional<DeviceCheckpoint> earlier(Path directory) {
        Path file = directory.resolve(DeviceDirectory.CHECKPOINT);
        try {
            return Files.exists(file)
                    ? Optional.of(DeviceCheckpoint.read(Json.parseObject(Files.readAllBytes(file))))
                    : Optional.empty();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    public DeviceManager manager() {
        return manager;
    }

    /** The resources of all registrations so far. */
    List<String> registered() {
        return registered;
    }

    /** The next plugin at that socket. */
    void put(String endpoint, FakePlugin plugin) {
        plugins.put(endpoint, plugin);
    }

    /** A new plugin for {@code resource}, which has registered and not listed its devices. */
    public FakePlugin register(String resource) {
        return register(resource.replace('/', '-') + ".sock", resource);
    }

    FakePlugin register(String endpoint, String resource) {
        FakePlugin plugin = new FakePlugin();
        put(endpoint, plugin);
        manager.register(new PluginRegistration("v1beta1", endpoint, resource)).join();
        return plugin;
    }

    /** Work on files happens at once. */
    private static final class AtOnce implements BlockingCalls {
        @Override
        public <T> CompletableFuture<T> call(String what, Duration deadline, Callable<T> work) {
            try {
                return CompletableFuture.completedFuture(work.call());
            } catch (Exception e) {
                return CompletableFuture.failedFuture(e);
            }
        }
    }
}
