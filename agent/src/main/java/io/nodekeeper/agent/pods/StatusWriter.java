package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.status.PodReport;
import io.nodekeeper.agent.pods.status.StoredStatus;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the status of one pod to the API: the newest one, one write at a time, until it succeeds. Keeps one status, however
 * many are reported. Confined to its client's loop.
 */
final class StatusWriter {
    private static final Logger log = LoggerFactory.getLogger(StatusWriter.class);
    private static final Backoff RETRY = new Backoff(Duration.ofMillis(500), Duration.ofSeconds(10));

    /** After a refusal: the server's answer may change, as when it reads its roles, or when another client has written. */
    private static final Backoff REFUSED = new Backoff(Duration.ofSeconds(10), Duration.ofMinutes(1));

    /** How often a static pod's copy is looked for while there is none. */
    private static final Duration NO_OBJECT = Duration.ofSeconds(1);

    /** The pause before a status that another client has changed is written again: two clients that disagree write once a second. */
    private static final Duration CONTESTED = Duration.ofSeconds(1);

    private final KubeClient client;
    private final Loop loop;
    private final Function<Pod, Optional<Pod>> objects;
    private Optional<JsonObject> written = Optional.empty();
    /** The UID of the object that has {@link #written}. */
    private String writtenTo = "";

    /** The whole status of that object after the write, which the watch may not have shown yet. */
    private JsonObject answered = JsonObject.EMPTY;

    /** The version of that object after the write; empty if the server's versions are no numbers. */
    private OptionalLong writtenAt = OptionalLong.empty();

    private Optional<JsonObject> pending = Optional.empty();
    private CompletableFuture<Void> idle = CompletableFuture.completedFuture(null);
    private int failures;
    /** Counts writes, so that a late repetition notices that there was another one. */
    private long writes;

    private boolean stopped;

    /** A writer for one pod; {@code objects} finds the object of a pod in the API. */
    StatusWriter(KubeClient client, Function<Pod, Optional<Pod>> objects) {
        this.client = client;
        this.objects = objects;
        this.loop = client.loop();
    }

    /** The last status that was reported; that of {@code pod} before the first report. */
    JsonObject last(Pod pod) {
        return pending.or(() -> written)
                .orElseGet(() -> objects.apply(pod).orElse(pod).status());
    }

    /** Writes {@code status} unless the API has it. */
    void report(Pod pod, JsonObject status) {
        boolean overwritten = objects.apply(pod).filter(this::isOverwritten).isPresent();
        if (stopped || has(pod, status) && !overwritten) {
            return;
        }
        pending = Optional.of(status);
        if (idle.isDone()) {
            idle = new CompletableFuture<>();
            if (overwritten) {
                loop.schedule(CONTESTED, () -> write(pod));
            } else {
                write(pod);
            }
        }
    }

    /** Reports a pod that the node does not run. */
    void reject(Pod pod, Wanted.Eviction why) {
        report(
                pod,
                JsonObject.builder()
                        .put("phase", Pod.FAILED)
                        .put("reason", why.reason())
                        .put("message", "Pod was rejected: " + why.message())
                        .build());
    }

    /** Completes once nothing waits to be written. */
    CompletableFuture<Void> idle() {
        return idle;
    }

    /** Gives up what waits. */
    void stop() {
        stopped = true;
        end();
    }

    private boolean has(Pod pod, JsonObject status) {
        boolean replaced = !writtenTo.isEmpty()
                && objects.apply(pod)
                        .filter(object -> object.uid().equals(writtenTo))
                        .isEmpty();
        if (replaced) {
            return false;
        }
        return StoredStatus.has(last(pod), status);
    }

    /**
     * Whether another client has changed the status since it was written, such as the controller, which marks the pods of a silent
     * node as not Ready. An older version only means that the watch is behind.
     */
    private boolean isOverwritten(Pod object) {
        OptionalLong version = version(object.json());
        if (written.isEmpty() || version.isEmpty() || writtenAt.isEmpty()) {
            return false;
        }
        return version.getAsLong() > writtenAt.getAsLong()
                && !(written.get().text("phase").equals(object.phase())
                        && PodReport.ownConditions(written.get()).equals(PodReport.ownConditions(object.status())));
    }

    private static OptionalLong version(JsonObject object) {
        String text = object.object("metadata").text("resourceVersion");
        try {
            return OptionalLong.of(Long.parseLong(text));
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    private void write(Pod pod) {
        if (stopped || pending.isEmpty()) {
            end();
            return;
        }
        Optional<Pod> object = objects.apply(pod);
        if (object.isEmpty()) {
            loop.schedule(NO_OBJECT, () -> write(pod));
            return;
        }
        String uid = object.get().uid();
        JsonObject status = pending.get();
        writes++;
        // With the UID, so that a new pod of the same name is not changed.
        JsonObject patch = JsonObject.builder()
                .put("metadata", JsonObject.builder().put("uid", uid).build())
                .put(
                        "status",
                        StoredStatus.patch(
                                uid.equals(writtenTo) ? answered : object.get().status(), status))
                .build();
        client.patch(ResourceType.PODS, pod.namespace(), pod.name(), "status", PatchType.STRATEGIC, patch)
                .whenComplete((answer, error) -> {
                    if (error == null) {
                        written = Optional.of(status);
                        writtenTo = uid;
                        answered = answer.object("status");
                        writtenAt = version(answer);
                        pending = pending.filter(newer -> newer != status);
                        failures = 0;
                        write(pod);
                    } else if (Failures.isCode(error, 404)) {
                        // The pod is gone.
                        pending = Optional.empty();
                        end();
                    } else if (!Failures.mayPass(error)) {
                        refused(pod, error);
                    } else {
                        Duration pause = RETRY.delay(failures++);
                        log.debug("Status of pod {}: {}", pod.fullName(), Failures.text(error));
                        loop.schedule(pause, () -> write(pod));
                    }
                });
    }

    /** Nothing waits for a status that the server refuses; it is written again later, unless there is a newer one by then. */
    private void refused(Pod pod, Throwable error) {
        log.warn("Status of pod {} was refused: {}", pod.fullName(), Failures.text(error));
        long refused = writes;
        loop.schedule(REFUSED.delay(failures++), () -> {
            if (!stopped && writes == refused && idle.isDone()) {
                idle = new CompletableFuture<>();
                write(pod);
            }
        });
        end();
    }

    private void end() {
        idle.complete(null);
    }
}
