package io.nodekeeper.cri;

import io.nodekeeper.cri.config.ContainerConfig;
import io.nodekeeper.cri.config.SandboxConfig;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A simulated runtime for tests in virtual time. The test adds its sandboxes and containers; calls can be made to hang, to
 * fail or to be slow, by method or by method and id. Confined to its loop.
 */
public final class FakeRuntime implements ContainerRuntime {
    private final Loop loop;
    private final Map<String, PodSandbox> sandboxes = new LinkedHashMap<>();
    private final Map<String, Container> containers = new LinkedHashMap<>();
    private final Map<String, ContainerStatus.Origin> origins = new HashMap<>();
    private final Map<String, List<String>> ips = new HashMap<>();
    private final Map<String, Fault> faults = new HashMap<>();
    private final Map<String, RuntimeCall.ExecSync.Result> commands = new HashMap<>();
    private final List<RuntimeCall<?>> calls = new ArrayList<>();
    private final List<RuntimeCall<?>> open = new ArrayList<>();
    private final List<Consumer<ContainerEvent>> listeners = new ArrayList<>();
    private RuntimeVersion version = new RuntimeVersion("docker", "1.2.3", "v1");
    private RuntimeStatus status = ready();
    private List<Image> images = List.of();
    private List<ImageFilesystem> filesystems = List.of(new ImageFilesystem("/var/lib/runtime", 0, 0));
    private Optional<String> sandboxImage = Optional.of("pause:1");
    private int made;

    private sealed interface Fault {
        record Hang() implements Fault {}

        record Fail(RuntimeException error) implements Fault {}

        record Delay(Duration by) implements Fault {}
    }

    /** A runtime that is ready and runs nothing. */
    public FakeRuntime(Loop loop) {
        this.loop = loop;
    }

    /** Both conditions True, no handlers. */
    public static RuntimeStatus ready() {
        return new RuntimeStatus(
                List.of(
                        new RuntimeCondition(RuntimeCondition.RUNTIME_READY, true, "", ""),
                        new RuntimeCondition(RuntimeCondition.NETWORK_READY, true, "", "")),
                List.of(),
                Optional.empty());
    }

    /** A pod with one ready sandbox {@code s-UID} and these running containers, named {@code UID-NAME}. */
    public void pod(String uid, String... names) {
        sandbox("s-" + uid, uid, true);
        for (String name : names) {
            container(uid + "-" + name, uid, name, ContainerState.RUNNING);
        }
    }

    /** Adds or changes a sandbox. Pods are named {@code pod-UID} in the namespace {@code default}. */
    public void sandbox(String id, String uid, boolean ready) {
        sandboxes.put(id, new PodSandbox(id, uid, "pod-" + uid, "default", 0, ready, 1));
        ips.putIfAbsent(id, List.of("10.1.0.7"));
    }

    /** The addresses that a sandbox's status shows. */
    public void ips(String sandboxId, List<String> addresses) {
        ips.put(sandboxId, addresses);
    }

    /** Adds a container or changes its state. */
    public void container(String id, String uid, String name, ContainerState state) {
        containers.put(id, new Container(id, "s-" + uid, name, uid, state, 1));
    }

    /** Removes a container or sandbox. */
    public void remove(String id) {
        containers.remove(id);
        sandboxes.remove(id);
    }

    /** Removes all sandboxes and containers of a pod. */
    public void removePod(String uid) {
        containers.values().removeIf(container -> container.podUid().equals(uid));
        sandboxes.values().removeIf(sandbox -> sandbox.podUid().equals(uid));
    }

    public void version(RuntimeVersion value) {
        version = value;
    }

    public void status(RuntimeStatus value) {
        status = value;
    }

    public void images(List<Image> value) {
        images = value;
    }

    /** The image of sandboxes that the status names. */
    public void sandboxImage(Optional<String> value) {
        sandboxImage = value;
    }

    /** The images that it has. */
    public List<Image> images() {
        return images;
    }

    /** Adds a container with an image, or changes its state. */
    public void container(String id, String uid, ContainerState state, String image) {
        containers.put(id, new Container(id, "s-" + uid, "c", uid, state, 1, Set.of(image)));
    }

    public void filesystems(List<ImageFilesystem> value) {
        filesystems = value;
    }

    /** Calls of {@code where}, a method such as {@code Status} or {@code ContainerStatus:ID}, are never answered. */
    public void hang(String where) {
        faults.put(where, new Fault.Hang());
    }

    /** These calls fail. */
    public void fail(String where, RuntimeException error) {
        faults.put(where, new Fault.Fail(error));
    }

    /** These calls take that long. */
    public void delay(String where, Duration by) {
        faults.put(where, new Fault.Delay(by));
    }

    /** These calls work again. {@code *} stands for all calls without a fault of their own. */
    public void heal(String where) {
        faults.remove(where);
    }

    /** This command, its words joined by spaces, ends like that in every container; others end with 0. */
    public void command(String words, int exitCode, String output) {
        commands.put(words, new RuntimeCall.ExecSync.Result(exitCode, output));
    }

    /** All calls so far, in order. */
    public List<RuntimeCall<?>> calls() {
        return calls;
    }

    /** The number of calls of {@code method}. */
    public long calls(String method) {
        return calls.stream().filter(call -> call.method().equals(method)).count();
    }

    /** The number of calls of {@code method} that have neither an answer nor been cancelled. */
    public long open(String method) {
        return open.stream().filter(call -> call.method().equals(method)).count();
    }

    /** Sends the event to all subscribers. */
    public void emit(ContainerEvent event) {
        List.copyOf(listeners).forEach(listener -> loop.execute(() -> listener.accept(event)));
    }

    @Override
    public <T> CompletableFuture<T> call(RuntimeCall<T> call, Duration deadline) {
        calls.add(call);
        CompletableFuture<T> answer = new CompletableFuture<>();
        switch (fault(call)) {
            case Fault.Hang hang -> {}
            case Fault.Fail fail -> loop.execute(() -> answer.completeExceptionally(fail.error));
            case Fault.Delay delay -> loop.schedule(delay.by, () -> settle(call, answer));
        }
        CompletableFuture<T> result = Deadlines.within(loop, deadline, call.method(), answer);
        open.add(call);
        result.whenComplete((value, error) -> open.remove(call));
        return result;
    }

    @Override
    public CompletableFuture<Void> events(Consumer<ContainerEvent> listener) {
        CompletableFuture<Void> stream = new CompletableFuture<>();
        if (faults.get("GetContainerEvents") instanceof Fault.Fail fail) {
            loop.execute(() -> stream.completeExceptionally(fail.error));
            return stream;
        }
        listeners.add(listener);
        stream.whenComplete((end, error) -> listeners.remove(listener));
        return stream;
    }

    private Fault fault(RuntimeCall<?> call) {
        String id = call.containerId()
                .or(call::sandboxId)
                .or(call::podUid)
                .orElse(call instanceof RuntimeCall.RemoveImage(String image) ? image : "");
        Fault all = faults.getOrDefault("*", new Fault.Delay(Duration.ZERO));
        return faults.getOrDefault(call.method() + ":" + id, faults.getOrDefault(call.method(), all));
    }

    @SuppressWarnings("unchecked") // Each case answers what its call asks for.
    private <T> void settle(RuntimeCall<T> call, CompletableFuture<T> answer) {
        try {
            answer.complete((T) answer(call));
        } catch (RuntimeCallException e) {
            answer.completeExceptionally(e);
        }
    }

    private Object answer(RuntimeCall<?> call) {
        return switch (call) {
            case RuntimeCall.GetVersion v -> version;
            case RuntimeCall.GetStatus s -> status;
            case RuntimeCall.ListSandboxes(Optional<String> uid) ->
                sandboxes.values().stream()
                        .filter(sandbox -> uid.isEmpty() || sandbox.podUid().equals(uid.get()))
                        .toList();
            case RuntimeCall.ListContainers(Optional<String> uid) ->
                containers.values().stream()
                        .filter(container -> uid.isEmpty() || container.podUid().equals(uid.get()))
                        .toList();
            case RuntimeCall.GetSandbox(String id) -> {
                PodSandbox sandbox = found(call, sandboxes, id);
                yield new PodSandboxStatus(sandbox, sandbox.ready() ? ips.getOrDefault(id, List.of()) : List.of());
            }
            case RuntimeCall.GetContainer(String id) -> {
                Container container = found(call, containers, id);
                yield new ContainerStatus(
                        id,
                        container.name(),
                        container.state(),
                        1,
                        0,
                        0,
                        "",
                        "",
                        origins.getOrDefault(id, ContainerStatus.Origin.UNKNOWN));
            }
            case RuntimeCall.GetContainerStats(String id) ->
                new ContainerUsage(found(call, containers, id).id(), 1, 1, 1, 1);
            case RuntimeCall.SetPodCidr cidr -> RuntimeCall.Done.DONE;
            case RuntimeCall.ListImages list -> images;
            case RuntimeCall.GetImageFilesystems list -> filesystems;
            case RuntimeCall.RunSandbox(SandboxConfig config, String handler) -> {
                String id = "made-" + ++made;
                sandboxes.put(
                        id,
                        new PodSandbox(
                                id,
                                config.podUid(),
                                config.podName(),
                                config.podNamespace(),
                                config.attempt(),
                                true,
                                1));
                ips.put(id, List.of("10.1.0.9"));
                yield id;
            }
            case RuntimeCall.StopSandbox(String id) -> {
                sandboxes.computeIfPresent(
                        id,
                        (key, old) -> new PodSandbox(
                                id, old.podUid(), old.podName(), old.podNamespace(), old.attempt(), false, 1));
                yield RuntimeCall.Done.DONE;
            }
            case RuntimeCall.RemoveSandbox(String id) -> {
                sandboxes.remove(id);
                yield RuntimeCall.Done.DONE;
            }
            case RuntimeCall.RemoveImage(String image) -> {
                images = images.stream()
                        .filter(there -> !there.id().equals(image))
                        .toList();
                yield RuntimeCall.Done.DONE;
            }
            case RuntimeCall.GetSandboxImage image -> sandboxImage;
            case RuntimeCall.GetImage(String name) ->
                images.stream()
                        .filter(image -> image.id().equals(name) || image.tags().contains(name))
                        .findFirst();
            case RuntimeCall.PullImage pull -> {
                String name = pull.image();
                images = List.of(new Image("sha256:" + name, List.of(), List.of(name), 1));
                yield "sha256:" + name;
            }
            case RuntimeCall.CreateContainer(String sandbox, ContainerConfig config, SandboxConfig pod) -> {
                String id = "made-" + ++made;
                containers.put(
                        id, new Container(id, sandbox, config.name(), pod.podUid(), ContainerState.CREATED, made));
                origins.put(
                        id,
                        new ContainerStatus.Origin(config.attempt(), made, "", config.image(), config.annotations()));
                yield id;
            }
            case RuntimeCall.StartContainer(String id) -> become(call, id, ContainerState.RUNNING);
            case RuntimeCall.StopContainer(String id, Duration grace) -> become(call, id, ContainerState.EXITED);
            case RuntimeCall.PinContainer(String id, String cpus) -> {
                found(call, containers, id);
                yield RuntimeCall.Done.DONE;
            }
            case RuntimeCall.ReopenLog(String id) -> {
                found(call, containers, id);
                yield RuntimeCall.Done.DONE;
            }
            case RuntimeCall.RemoveContainer(String id) -> {
                containers.remove(id);
                yield RuntimeCall.Done.DONE;
            }
            case RuntimeCall.Exec(String id, List<String> command, RuntimeCall.Streams streams) ->
                "http://127.0.0.1:1/exec/" + found(call, containers, id).id();
            case RuntimeCall.Attach(String id, RuntimeCall.Streams streams) ->
                "http://127.0.0.1:1/attach/" + found(call, containers, id).id();
            case RuntimeCall.PortForward(String sandbox, List<Integer> ports) ->
                "http://127.0.0.1:1/portforward/" + sandbox;
            case RuntimeCall.ExecSync exec -> {
                found(call, containers, exec.container());
                yield commands.getOrDefault(String.join(" ", exec.command()), new RuntimeCall.ExecSync.Result(0, ""));
            }
        };
    }

    private RuntimeCall.Done become(RuntimeCall<?> call, String id, ContainerState state) {
        Container old = found(call, containers, id);
        containers.put(id, new Container(id, old.sandboxId(), old.name(), old.podUid(), state, old.createdAtNanos()));
        return RuntimeCall.Done.DONE;
    }

    private static <V> V found(RuntimeCall<?> call, Map<String, V> all, String id) {
        V value = all.get(id);
        if (value == null) {
            throw new RuntimeCallException(call.method(), RuntimeCallException.Code.NOT_FOUND, "no " + id);
        }
        return value;
    }
}
