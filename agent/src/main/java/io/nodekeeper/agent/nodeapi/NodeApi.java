package io.nodekeeper.agent.nodeapi;

import io.nodekeeper.agent.logs.LogPump;
import io.nodekeeper.agent.logs.LogReader;
import io.nodekeeper.agent.pods.containers.PodLabels;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.Observed;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.client.pages.Pages;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.Loop;
import java.net.URI;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers requests to the node's API from what the agent knows, the runtime and the logs. Its callers have been
 * authorized. Thread-safe; its work is done on the agent's loop and on workers.
 */
public final class NodeApi {
    private static final Logger log = LoggerFactory.getLogger(NodeApi.class);
    /** The deadline of calls that only prepare a stream: Kubernetes' for the head of an answer is 30 s. */
    private static final Duration PREPARE = Duration.ofSeconds(20);

    private final PodSource pods;
    private final ContainerRuntime runtime;
    private final Path logs;
    private final Pages pages;
    private final BlockingCalls disk;
    private final Loop loop;

    /**
     * An API for these pods.
     *
     * @param runtime whose answers come on {@code loop}
     * @param logs below which the logs of pods are
     * @param pages the pages that the API also has
     */
    public NodeApi(PodSource pods, ContainerRuntime runtime, Path logs, Pages pages, BlockingCalls disk, Loop loop) {
        this.pods = pods;
        this.runtime = runtime;
        this.logs = logs;
        this.pages = pages;
        this.disk = disk;
        this.loop = loop;
    }

    /** The answer to a request; never fails. */
    public CompletableFuture<Answer> answer(String method, String path, Query query, String rawQuery) {
        return CompletableFuture.supplyAsync(
                        () -> answer(
                                Requests.read(method, path, query, loop.clock().wallTime()), rawQuery),
                        loop)
                .thenCompose(Function.identity())
                .exceptionally(error -> {
                    log.info("{} {} failed: {}", method, path, Failures.text(error));
                    return Answer.Whole.text(500, Failures.text(error));
                });
    }

    private CompletableFuture<Answer> answer(Asked asked, String rawQuery) {
        return switch (asked) {
            case Asked.OfPage page -> pages.get(page.path(), rawQuery).thenApply(Answer.Whole::new);
            case Asked.Pods all -> list(pods.pods());
            case Asked.Log of -> log(of);
            case Asked.Exec exec -> exec(exec);
            case Asked.Attach attach -> attach(attach);
            case Asked.PortForward forward -> forward(forward);
            case Asked.Nothing nothing -> text(nothing.status(), nothing.why());
        };
    }

    private static CompletableFuture<Answer> text(int status, String text) {
        return CompletableFuture.completedFuture(Answer.Whole.text(status, text));
    }

    private CompletableFuture<Answer> list(List<Pod> all) {
        // Many pods take a while to write.
        return disk.call(
                "writing the pods",
                PREPARE,
                () -> new Answer.Whole(new Page(
                        200,
                        "application/json",
                        Json.writeBytes(JsonObject.builder()
                                .put("kind", "PodList")
                                .put("apiVersion", "v1")
                                .put("metadata", JsonObject.EMPTY)
                                .put(
                                        "items",
                                        JsonArray.of(all.stream().map(Pod::json).toArray(JsonObject[]::new)))
                                .build()))));
    }

    private Optional<Pod> find(String namespace, String name, String uid) {
        return pods.pods().stream()
                .filter(pod -> pod.namespace().equals(namespace)
                        && pod.name().equals(name)
                        && (uid.isEmpty() || pod.uid().equals(uid)))
                .findFirst();
    }

    private Observed observed(Pod pod) {
        return new Observed(pods.status(pod.uid()));
    }

    private CompletableFuture<Answer> log(Asked.Log asked) {
        Optional<Pod> found = find(asked.namespace(), asked.pod(), "");
        if (found.isEmpty()) {
            return text(404, "pod \"" + asked.pod() + "\" does not exist");
        }
        Pod pod = found.get();
        if (pod.container(asked.container()).isEmpty()) {
            return text(404, "container \"" + asked.container() + "\" not found in pod \"" + asked.pod() + "\"");
        }
        Optional<ContainerStatus> container = asked.previous()
                ? previous(pod, observed(pod), asked.container())
                : written(observed(pod), asked.container());
        if (container.isEmpty()) {
            return text(400, LogRefusals.text(pod, asked.container(), asked.previous()));
        }
        ContainerStatus status = container.get();
        Path path = PodLabels.logDirectory(logs, pod)
                .resolve(PodLabels.logPath(asked.container(), status.origin().attempt()));
        LogReader reader = new LogReader(path, asked.options());
        return disk.call("opening a log", PREPARE, () -> {
                    reader.open();
                    return (Answer) new Answer.Log(
                            pod.uid(),
                            client -> new LogPump(
                                    reader, asked.options().follow(), () -> hasEnded(pod, status), disk, loop, client));
                })
                .exceptionallyCompose(error -> Failures.cause(error) instanceof NoSuchFileException
                        ? text(404, "the log of container \"" + asked.container() + "\" does not exist: " + path)
                        : CompletableFuture.failedFuture(error));
    }

    /** The container whose log is asked for; empty if there is none that was started. */
    private static Optional<ContainerStatus> written(Observed observed, String container) {
        return observed.containers().stream()
                .filter(one -> one.name().equals(container) && one.state() != ContainerState.CREATED)
                .findFirst();
    }

    /**
     * The container whose end the status of the pod reports as the last one. While a container waits for its next start, it is the newest
     * one: for a user it has ended already.
     */
    private static Optional<ContainerStatus> previous(Pod pod, Observed observed, String container) {
        Optional<ContainerStatus> newest = observed.newest(container);
        boolean ended =
                newest.filter(one -> one.state() == ContainerState.EXITED).isPresent();
        return ended && pod.reported(container).object("state").has("waiting")
                ? newest
                : newest.flatMap(current -> observed.ended(container, current.id()));
    }

    private boolean hasEnded(Pod pod, ContainerStatus container) {
        return observed(pod).containers().stream()
                .filter(one -> one.id().equals(container.id()))
                .noneMatch(one -> one.state() == ContainerState.RUNNING || one.state() == ContainerState.UNKNOWN);
    }

    private CompletableFuture<Answer> exec(Asked.Exec asked) {
        Optional<Pod> pod = find(asked.namespace(), asked.pod(), asked.uid());
        if (pod.isEmpty()) {
            return text(404, "pod does not exist");
        }
        return running(pod.get(), asked.container())
                .map(id -> stream(pod.get(), new RuntimeCall.Exec(id, asked.command(), asked.streams())))
                .orElseGet(() -> text(500, "container not found (\"" + asked.container() + "\")"));
    }

    private CompletableFuture<Answer> attach(Asked.Attach asked) {
        Optional<Pod> pod = find(asked.namespace(), asked.pod(), asked.uid());
        if (pod.isEmpty()) {
            return text(404, "pod does not exist");
        }
        return running(pod.get(), asked.container())
                .map(id -> stream(pod.get(), new RuntimeCall.Attach(id, asked.streams())))
                .orElseGet(() -> text(
                        500,
                        "container " + asked.container() + " not found in pod "
                                + pod.get().name()));
    }

    private CompletableFuture<Answer> forward(Asked.PortForward asked) {
        Optional<Pod> pod = find(asked.namespace(), asked.pod(), asked.uid());
        if (pod.isEmpty()) {
            return text(404, "pod does not exist");
        }
        return observed(pod.get())
                .sandbox()
                .filter(PodSandbox::ready)
                .map(sandbox -> stream(pod.get(), new RuntimeCall.PortForward(sandbox.id(), asked.ports())))
                .orElseGet(() -> text(500, "not found: pod " + pod.get().fullName() + " has no sandbox that is ready"));
    }

    private Optional<String> running(Pod pod, String container) {
        return observed(pod).containers().stream()
                .filter(one -> one.name().equals(container) && one.state() == ContainerState.RUNNING)
                .findFirst()
                .map(ContainerStatus::id);
    }

    private CompletableFuture<Answer> stream(Pod pod, RuntimeCall<String> call) {
        return runtime.call(call, PREPARE).thenCompose(url -> {
            URI place = URI.create(url);
            // The runtime's own server, on this machine.
            return "http".equals(place.getScheme()) && place.getPort() > 0 && place.getHost() != null
                    ? CompletableFuture.completedFuture(new Answer.Stream(pod.uid(), place))
                    : text(500, "the runtime serves streams at " + url + "; expected http://ADDRESS:PORT/PATH");
        });
    }
}
