package io.nodekeeper.cri;

import static java.util.Objects.requireNonNull;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.grpc.util.MutableHandlerRegistry;
import io.nodekeeper.cri.devices.v1beta1.AllocateRequest;
import io.nodekeeper.cri.devices.v1beta1.AllocateResponse;
import io.nodekeeper.cri.devices.v1beta1.CDIDevice;
import io.nodekeeper.cri.devices.v1beta1.ContainerAllocateResponse;
import io.nodekeeper.cri.devices.v1beta1.ContainerPreferredAllocationResponse;
import io.nodekeeper.cri.devices.v1beta1.Device;
import io.nodekeeper.cri.devices.v1beta1.DevicePluginGrpc;
import io.nodekeeper.cri.devices.v1beta1.DevicePluginOptions;
import io.nodekeeper.cri.devices.v1beta1.DeviceSpec;
import io.nodekeeper.cri.devices.v1beta1.Empty;
import io.nodekeeper.cri.devices.v1beta1.ListAndWatchResponse;
import io.nodekeeper.cri.devices.v1beta1.Mount;
import io.nodekeeper.cri.devices.v1beta1.NUMANode;
import io.nodekeeper.cri.devices.v1beta1.PreStartContainerRequest;
import io.nodekeeper.cri.devices.v1beta1.PreStartContainerResponse;
import io.nodekeeper.cri.devices.v1beta1.PreferredAllocationRequest;
import io.nodekeeper.cri.devices.v1beta1.PreferredAllocationResponse;
import io.nodekeeper.cri.devices.v1beta1.RegisterRequest;
import io.nodekeeper.cri.devices.v1beta1.RegistrationGrpc;
import io.nodekeeper.cri.devices.v1beta1.TopologyInfo;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A device plugin whose devices are {@code /dev/null} under other names. It runs in the process of a test, or with {@link #main}
 * as a process of its own. Thread-safe.
 */
public final class StubDevicePlugin implements AutoCloseable {
    private final Path directory;
    private final String endpoint;
    private final String resource;
    private final UnixServer server;
    private final Map<String, String> health = new TreeMap<>();
    private final List<StreamObserver<ListAndWatchResponse>> watchers = new CopyOnWriteArrayList<>();
    private final List<String> calls = new CopyOnWriteArrayList<>();
    private volatile DevicePluginOptions options = DevicePluginOptions.getDefaultInstance();
    private volatile boolean hangs;

    /** A plugin for devices with these ids, which listens at {@code directory/endpoint} and has not registered yet. */
    public StubDevicePlugin(Path directory, String endpoint, String resource, List<String> ids) throws IOException {
        this.directory = directory;
        this.endpoint = endpoint;
        this.resource = resource;
        ids.forEach(id -> health.put(id, "Healthy"));
        MutableHandlerRegistry handlers = new MutableHandlerRegistry();
        handlers.addService(new Service());
        Files.deleteIfExists(directory.resolve(endpoint));
        server = new UnixServer(directory.resolve(endpoint), handlers);
    }

    /** What it wants to be asked. */
    public void options(boolean preStart, boolean preferred) {
        options = DevicePluginOptions.newBuilder()
                .setPreStartRequired(preStart)
                .setGetPreferredAllocationAvailable(preferred)
                .build();
    }

    /** From now on allocations are not answered. */
    public void hang() {
        hangs = true;
    }

    /** The calls so far, but for lists. */
    public List<String> calls() {
        return calls;
    }

    /** Registers at the node's socket. */
    public void register() {
        register("v1beta1");
    }

    /** The same with another version. */
    public void register(String version) {
        ManagedChannel channel = CriChannels.open(directory.resolve("kubelet.sock"));
        try {
            RegistrationGrpc.newBlockingStub(channel)
                    .withWaitForReady()
                    .withDeadlineAfter(20, TimeUnit.SECONDS)
                    .register(RegisterRequest.newBuilder()
                            .setVersion(version)
                            .setEndpoint(endpoint)
                            .setResourceName(resource)
                            .build());
        } finally {
            channel.shutdownNow();
        }
    }

    /** Tells the node of another health of a device. */
    public void health(String id, String value) {
        synchronized (health) {
            health.put(id, value);
        }
        watchers.forEach(watcher -> watcher.onNext(list()));
    }

    private ListAndWatchResponse list() {
        ListAndWatchResponse.Builder list = ListAndWatchResponse.newBuilder();
        synchronized (health) {
            health.forEach((id, value) -> list.addDevices(Device.newBuilder()
                    .setId(id)
                    .setHealth(value)
                    .setTopology(TopologyInfo.newBuilder()
                            .addNodes(NUMANode.newBuilder().setId(1)))));
        }
        return list.build();
    }

    /** Ends like a killed process. */
    public void kill() throws IOException, InterruptedException {
        server.kill();
    }

    @Override
    public void close() throws IOException, InterruptedException {
        server.close();
    }

    /**
     * Runs until the end of its input, whose lines are {@code ID HEALTH}; registers at the start and whenever the node's socket is
     * made again.
     *
     * @param args the directory, the name of the socket, the resource, and the ids of devices
     */
    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        WatchService watch = directory.getFileSystem().newWatchService();
        directory.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
        List<String> ids = List.of(args).subList(3, args.length);
        AtomicReference<StubDevicePlugin> plugin =
                new AtomicReference<>(new StubDevicePlugin(directory, args[1], args[2], ids));
        requireNonNull(plugin.get()).register();
        System.out.println("registered");
        Thread.ofVirtual().start(() -> follow(watch, plugin));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ", -1);
            requireNonNull(plugin.get()).health(words[0], words[1]);
        }
        System.exit(0);
    }

    /** A real plugin starts again, and so makes its own socket again, which the node has removed. */
    private static void follow(WatchService watch, AtomicReference<StubDevicePlugin> plugin) {
        try {
            while (true) {
                WatchKey key = watch.take();
                for (WatchEvent<?> event : key.pollEvents()) {
                    if (String.valueOf(event.context()).equals("kubelet.sock")) {
                        StubDevicePlugin old = requireNonNull(plugin.get());
                        old.close();
                        StubDevicePlugin next = new StubDevicePlugin(
                                old.directory, old.endpoint, old.resource, List.copyOf(old.health.keySet()));
                        plugin.set(next);
                        next.register();
                        System.out.println("registered again");
                    }
                }
                key.reset();
            }
        } catch (InterruptedException | IOException e) {
            System.err.println("the plugin ends: " + e);
            System.exit(1);
        }
    }

    private final class Service extends DevicePluginGrpc.DevicePluginImplBase {
        @Override
        public void getDevicePluginOptions(Empty request, StreamObserver<DevicePluginOptions> answer) {
            answer(answer, options);
        }

        @Override
        public void listAndWatch(Empty request, StreamObserver<ListAndWatchResponse> answer) {
            ((ServerCallStreamObserver<?>) answer).setOnCancelHandler(() -> watchers.remove(answer));
            watchers.add(answer);
            answer.onNext(list());
        }

        @Override
        public void getPreferredAllocation(
                PreferredAllocationRequest request, StreamObserver<PreferredAllocationResponse> answer) {
            var wanted = request.getContainerRequests(0);
            calls.add("preferred " + wanted.getAvailableDeviceIdsList() + " " + wanted.getMustIncludeDeviceIdsList()
                    + " " + wanted.getAllocationSize());
            answer(
                    answer,
                    PreferredAllocationResponse.newBuilder()
                            .addContainerResponses(ContainerPreferredAllocationResponse.newBuilder()
                                    .addAllDeviceIds(wanted.getAvailableDeviceIdsList()
                                            .reversed()
                                            .subList(0, wanted.getAllocationSize())))
                            .build());
        }

        @Override
        public void allocate(AllocateRequest request, StreamObserver<AllocateResponse> answer) {
            List<String> ids = request.getContainerRequests(0).getDevicesIdsList();
            calls.add("allocate " + ids);
            if (hangs) {
                return;
            }
            if (ids.contains("broken")) {
                answer.onError(Status.INTERNAL.withDescription("it is broken").asRuntimeException());
                return;
            }
            ContainerAllocateResponse.Builder granted = ContainerAllocateResponse.newBuilder()
                    .putEnvs("STUB_DEVICES", String.join(",", ids))
                    .putAnnotations("stub.example.com/devices", String.join(",", ids))
                    .addMounts(Mount.newBuilder()
                            .setContainerPath("/stub")
                            .setHostPath(directory.toString())
                            .setReadOnly(true))
                    .addCdiDevices(CDIDevice.newBuilder().setName("example.com/stub=all"));
            ids.forEach(id -> granted.addDevices(DeviceSpec.newBuilder()
                    .setContainerPath("/dev/" + id)
                    .setHostPath("/dev/null")
                    .setPermissions("rw")));
            answer(
                    answer,
                    AllocateResponse.newBuilder().addContainerResponses(granted).build());
        }

        @Override
        public void preStartContainer(
                PreStartContainerRequest request, StreamObserver<PreStartContainerResponse> answer) {
            calls.add("preStart " + request.getDevicesIdsList());
            answer(answer, PreStartContainerResponse.getDefaultInstance());
        }

        private static <T> void answer(StreamObserver<T> answer, T value) {
            answer.onNext(value);
            answer.onCompleted();
        }
    }
}
