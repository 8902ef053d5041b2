package io.nodekeeper.agent.devices;

import io.nodekeeper.cri.devices.DeviceGrant;
import io.nodekeeper.cri.devices.DevicePlugin;
import io.nodekeeper.cri.devices.PluginDevice;
import io.nodekeeper.cri.devices.PluginOptions;
import io.nodekeeper.cri.devices.v1beta1.ContainerAllocateResponse;
import io.nodekeeper.cri.devices.v1beta1.DeviceSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** A plugin that answers at once, unless it is told otherwise. */
public final class FakePlugin implements DevicePlugin {
    public final List<String> calls = new ArrayList<>();
    public PluginOptions options = PluginOptions.NONE;
    /** What it prefers. */
    public List<String> preferred = List.of();
    /** What allocations fail with; empty for none. */
    public String error = "";
    /** Whether allocations wait for {@link #answer}. */
    public boolean hangs;

    private final List<Runnable> waiting = new ArrayList<>();
    private Consumer<List<PluginDevice>> watcher = list -> {};
    private CompletableFuture<Void> end = new CompletableFuture<>();
    public boolean closed;

    /** Lists devices; an id that ends with {@code !} is unhealthy. */
    public void list(String... ids) {
        watcher.accept(Stream.of(ids)
                .map(id -> new PluginDevice(id.replace("!", ""), !id.endsWith("!"), Set.of()))
                .toList());
    }

    /** Lists devices near NUMA nodes. */
    void list(List<PluginDevice> devices) {
        watcher.accept(devices);
    }

    /** It ends. */
    public void die() {
        end.completeExceptionally(new IllegalStateException("the plugin died"));
    }

    /** Answers the allocations that wait. */
    public void answer() {
        List<Runnable> all = List.copyOf(waiting);
        waiting.clear();
        all.forEach(Runnable::run);
    }

    @Override
    public CompletableFuture<PluginOptions> options() {
        return CompletableFuture.completedFuture(options);
    }

    @Override
    public CompletableFuture<Void> watch(Consumer<List<PluginDevice>> devices) {
        watcher = devices;
        end = new CompletableFuture<>();
        return end;
    }

    @Override
    public CompletableFuture<List<String>> preferred(List<String> available, List<String> included, int count) {
        calls.add("preferred " + available + " " + included + " " + count);
        return CompletableFuture.completedFuture(preferred);
    }

    @Override
    public CompletableFuture<DeviceGrant> allocate(List<String> ids) {
        calls.add("allocate " + ids);
        CompletableFuture<DeviceGrant> answer = new CompletableFuture<>();
        Runnable settle = () -> {
            if (error.isEmpty()) {
                answer.complete(grant(ids));
            } else {
                answer.completeExceptionally(new IllegalStateException(error));
            }
        };
        if (hangs) {
            waiting.add(settle);
        } else {
            settle.run();
        }
        return answer;
    }

    static DeviceGrant grant(List<String> ids) {
        ContainerAllocateResponse.Builder grant =
                ContainerAllocateResponse.newBuilder().putEnvs("DEVICES", String.join(",", ids));
        ids.forEach(id -> grant.addDevices(DeviceSpec.newBuilder()
                .setHostPath("/dev/null")
                .setContainerPath("/dev/" + id)
                .setPermissions("rw")));
        return DeviceGrant.parse(grant.build().toByteArray());
    }

    @Override
    public CompletableFuture<Void> preStart(List<String> ids) {
        calls.add("preStart " + ids);
        return error.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : CompletableFuture.failedFuture(new IllegalStateException(error));
    }

    @Override
    public void close() {
        closed = true;
    }
}
