package io.nodekeeper.client;

import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Jitter;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes Events of core/v1 to the API server, one after the other in the background, after {@link EventCorrelator} has
 * counted, combined or dropped them. An event that cannot be written after a few tries is lost, and said to be. What is
 * recorded may come from any thread; the rest is confined to the client's loop.
 */
public final class ApiEventRecorder implements EventRecorder {
    private static final Logger log = LoggerFactory.getLogger(ApiEventRecorder.class);
    /** Events that wait for the server; as many as client-go keeps. */
    private static final int WAITING = 1_000;
    /** As client-go: with the waits between them an event survives an outage of a minute and a half. */
    private static final int TRIES = 12;

    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(10));
    /** Events of objects without a namespace live here, as in Kubernetes. */
    private static final String DEFAULT_NAMESPACE = "default";

    private final KubeClient client;
    private final Loop loop;
    private final String component;
    private final String host;
    private final RandomGenerator random;
    private final EventCorrelator correlator = new EventCorrelator();
    private final ArrayDeque<Send> waiting = new ArrayDeque<>();
    private boolean sending;
    private long lastName;

    private record Send(EventCorrelator.Input event, EventCorrelator.Write write, Instant last) {}

    /**
     * A recorder.
     *
     * @param component the source of its events, as {@code kubelet} or {@code node-controller}
     * @param host the node that the source runs on; may be empty
     * @param random for names and waits
     */
    public ApiEventRecorder(KubeClient client, String component, String host, RandomGenerator random) {
        this.client = client;
        this.loop = client.loop();
        this.component = component;
        this.host = host;
        this.random = random;
    }

    @Override
    public void record(ObjectRef about, String type, String reason, String message) {
        loop.execute(() -> accept(new EventCorrelator.Input(about, type, reason, message)));
    }

    private void accept(EventCorrelator.Input event) {
        Instant now = loop.clock().wallTime();
        log.info(
                "Event occurred: object=\"{}\" kind=\"{}\" type=\"{}\" reason=\"{}\" message=\"{}\"",
                event.about().name(),
                event.about().kind(),
                event.type(),
                event.reason(),
                event.message());
        Optional<EventCorrelator.Write> write = correlator.observe(
                event, name(event.about(), now), now, loop.clock().nanoTime());
        if (write.isEmpty()) {
            log.debug(
                    "event {} of {} is one too many, dropped",
                    event.reason(),
                    event.about().name());
            return;
        }
        if (waiting.size() >= WAITING) {
            log.warn(
                    "{} events wait for the API server; event {} of {} is lost",
                    WAITING,
                    event.reason(),
                    event.about().name());
            return;
        }
        waiting.add(new Send(event, write.get(), now));
        if (!sending) {
            sendNext();
        }
    }

    /**
     * {@code <object>.<hex of unix nanoseconds>}. Clocks tick more coarsely than nanoseconds, so the rest is random, lest
     * two processes choose the same name for events of one object at one time.
     */
    private String name(ObjectRef about, Instant now) {
        long micros = KubeTime.micros(now);
        lastName = Math.max(lastName + 1, micros * 1_000 + random.nextInt(1_000));
        return about.name() + "." + Long.toHexString(lastName);
    }

    private void sendNext() {
        Send next = waiting.poll();
        sending = next != null;
        if (next != null) {
            send(next, 1);
        }
    }

    private void send(Send send, int attempt) {
        write(send)
                .whenComplete((done, error) -> loop.execute(() -> {
                    if (error == null || attempt > 1 && Failures.isReason(error, 409, "AlreadyExists")) {
                        // The name is ours alone: an earlier try was written, only its answer did not come.
                        sendNext();
                    } else if (attempt < TRIES && Failures.mayPass(error)) {
                        log.debug("event {} not written, trying again: {}", send.write.name(), Failures.text(error));
                        loop.schedule(
                                Jitter.stretch(RETRY.delay(attempt - 1), 0.5, random), () -> send(send, attempt + 1));
                    } else {
                        log.warn(
                                "event {} ({}) of {} is lost: {}",
                                send.write.name(),
                                send.event.reason(),
                                send.event.about().name(),
                                Failures.text(error));
                        sendNext();
                    }
                }));
    }

    private CompletableFuture<JsonObject> write(Send send) {
        String namespace = namespace(send.event.about());
        if (send.write.count() == 1) {
            return client.create(ResourceType.EVENTS, namespace, event(send, namespace));
        }
        JsonObject patch = JsonObject.builder()
                .put("count", send.write.count())
                .put("message", send.write.message())
                .put("lastTimestamp", KubeTime.format(send.last))
                .build();
        return client.patch(ResourceType.EVENTS, namespace, send.write.name(), "", PatchType.STRATEGIC, patch)
                // Events live for an hour; what is gone is made anew with the count it had.
                .exceptionallyCompose(error -> Failures.isCode(error, 404)
                        ? client.create(ResourceType.EVENTS, namespace, event(send, namespace))
                        : CompletableFuture.failedFuture(error));
    }

    private JsonObject event(Send send, String namespace) {
        EventCorrelator.Input event = send.event;
        return JsonObject.builder()
                .put("apiVersion", "v1")
                .put("kind", "Event")
                .put(
                        "metadata",
                        JsonObject.builder()
                                .put("name", send.write.name())
                                .put("namespace", namespace)
                                .build())
                .put("involvedObject", event.about().json())
                .put("reason", event.reason())
                .put("message", send.write.message())
                .put(
                        "source",
                        JsonObject.builder()
                                .put("component", component)
                                .putUnlessEmpty("host", host)
                                .build())
                .put("firstTimestamp", KubeTime.format(send.write.first()))
                .put("lastTimestamp", KubeTime.format(send.last))
                .put("count", send.write.count())
                .put("type", event.type())
                .put("reportingComponent", component)
                .put("reportingInstance", host)
                .build();
    }

    private static String namespace(ObjectRef about) {
        return about.namespace().isEmpty() ? DEFAULT_NAMESPACE : about.namespace();
    }
}
