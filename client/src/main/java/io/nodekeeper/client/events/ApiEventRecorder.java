package io.nodekeeper.client.events;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Jitter;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.TokenBucket;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes Events of core/v1 to the API server, one after the other in the background, after {@link EventCorrelator} has
 * counted, combined or dropped them. While more happens than the server takes, {@link EventQueue} keeps what matters most.
 * Neither its memory nor its log grows with the number of events; all that is not written is counted. What is recorded may
 * come from any thread; the rest is confined to the client's loop.
 */
public final class ApiEventRecorder implements EventRecorder {
    /** What became of an event. */
    public enum Outcome {
        /** It was written, alone or as one more of an Event object. */
        WRITTEN,
        /** It is part of a later write of its Event object. */
        MERGED,
        /** There were too many of its object, so it is only counted there. */
        SUPPRESSED,
        /** More important or newer events took its place in the queue. */
        DROPPED,
        /** The server refused it, or did not take it in time. */
        FAILED;

        /** As a label of a metric. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Is told what becomes of events; for metrics. Called on the loop. */
    public interface Watcher {
        /** One event ended like this. */
        void ended(Outcome outcome);
    }

    private static final Logger log = LoggerFactory.getLogger(ApiEventRecorder.class);
    /** As client-go: with the waits between them an event survives an outage of a minute and a half. */
    private static final int TRIES = 12;
    /** Events that are logged at once, and per second after that: more than happens while nothing is wrong. */
    private static final int LOG_BURST = 100;
    /** See {@link #LOG_BURST}. */
    private static final double LOGS_PER_SECOND = 1;

    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(10));
    /** Events of objects without a namespace live here, as in Kubernetes. */
    private static final String DEFAULT_NAMESPACE = "default";

    private final KubeClient client;
    private final Loop loop;
    private final String component;
    private final String host;
    private final RandomGenerator random;
    private final EventCorrelator correlator = new EventCorrelator();
    private final EventQueue waiting = new EventQueue();
    private final EventLosses losses;
    private final TokenBucket lines;
    private final Watcher watcher;
    private long unlogged;
    private boolean sending;
    private long lastName;

    /**
     * A recorder.
     *
     * @param component the source of its events, as {@code kubelet} or {@code node-controller}
     * @param host the node that the source runs on; may be empty
     * @param random for names and waits
     */
    public ApiEventRecorder(KubeClient client, String component, String host, RandomGenerator random) {
        this(client, component, host, random, outcome -> {});
    }

    /** The same, watched. */
    public ApiEventRecorder(KubeClient client, String component, String host, RandomGenerator random, Watcher watcher) {
        this.client = client;
        this.loop = client.loop();
        this.component = component;
        this.host = host;
        this.random = random;
        this.watcher = watcher;
        this.losses = new EventLosses(log, loop);
        this.lines = new TokenBucket(LOGS_PER_SECOND, LOG_BURST, loop.clock().nanoTime());
    }

    @Override
    public void record(ObjectRef about, String type, String reason, String message) {
        loop.execute(() -> accept(new EventCorrelator.Input(about, type, reason, message)));
    }

    private void accept(EventCorrelator.Input event) {
        Instant now = loop.clock().wallTime();
        logged(event);
        Optional<EventCorrelator.Write> write = correlator.observe(
                event, name(event.about(), now), now, loop.clock().nanoTime());
        if (write.isEmpty()) {
            watcher.ended(Outcome.SUPPRESSED);
            return;
        }
        int before = waiting.size();
        Optional<EventQueue.Send> dropped = waiting.add(
                new EventQueue.Send(event, write.get(), now, write.get().count() == 1));
        if (dropped.isPresent()) {
            watcher.ended(Outcome.DROPPED);
            losses.lost(
                    dropped.get().event(),
                    dropped.get().write().name(),
                    "queue full",
                    EventQueue.ROOM + " events wait for the API server");
        } else if (waiting.size() == before) {
            watcher.ended(Outcome.MERGED);
        }
        if (!sending) {
            sendNext();
        }
    }

    private void logged(EventCorrelator.Input event) {
        if (!lines.tryTake(loop.clock().nanoTime())) {
            unlogged++;
            return;
        }
        log.info(
                "Event occurred: object=\"{}\" kind=\"{}\" type=\"{}\" reason=\"{}\" message=\"{}\"{}",
                event.about().name(),
                event.about().kind(),
                event.type(),
                event.reason(),
                event.message(),
                unlogged == 0 ? "" : " (" + unlogged + " events before it were not logged)");
        unlogged = 0;
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
        Optional<EventQueue.Send> next = waiting.poll();
        sending = next.isPresent();
        next.ifPresent(send -> send(send, 1));
    }

    private void send(EventQueue.Send send, int attempt) {
        write(send)
                .whenComplete((done, error) -> loop.execute(() -> {
                    if (error == null || attempt > 1 && Failures.isReason(error, 409, "AlreadyExists")) {
                        // The name is ours alone: an earlier try was written, only its answer did not come.
                        watcher.ended(Outcome.WRITTEN);
                        sendNext();
                    } else if (attempt < TRIES && Failures.mayPass(error)) {
                        log.debug(
                                "event {} not written, trying again: {}",
                                send.write().name(),
                                Failures.text(error));
                        loop.schedule(
                                Jitter.stretch(RETRY.delay(attempt - 1), 0.5, random), () -> send(send, attempt + 1));
                    } else {
                        watcher.ended(Outcome.FAILED);
                        losses.lost(send.event(), send.write().name(), "not written", Failures.text(error));
                        sendNext();
                    }
                }));
    }

    private CompletableFuture<JsonObject> write(EventQueue.Send send) {
        String namespace = namespace(send.event().about());
        if (send.isNew()) {
            return client.create(ResourceType.EVENTS, namespace, event(send, namespace));
        }
        JsonObject patch = JsonObject.builder()
                .put("count", send.write().count())
                .put("message", send.write().message())
                .put("lastTimestamp", KubeTime.format(send.last()))
                .build();
        return client.patch(ResourceType.EVENTS, namespace, send.write().name(), "", PatchType.STRATEGIC, patch)
                // Events live for an hour; what is gone is made anew with the count it had.
                .exceptionallyCompose(error -> Failures.isCode(error, 404)
                        ? client.create(ResourceType.EVENTS, namespace, event(send, namespace))
                        : CompletableFuture.failedFuture(error));
    }

    private JsonObject event(EventQueue.Send send, String namespace) {
        EventCorrelator.Input event = send.event();
        return JsonObject.builder()
                .put("apiVersion", "v1")
                .put("kind", "Event")
                .put(
                        "metadata",
                        JsonObject.builder()
                                .put("name", send.write().name())
                                .put("namespace", namespace)
                                .build())
                .put("involvedObject", event.about().json())
                .put("reason", event.reason())
                .put("message", send.write().message())
                .put(
                        "source",
                        JsonObject.builder()
                                .put("component", component)
                                .putUnlessEmpty("host", host)
                                .build())
                .put("firstTimestamp", KubeTime.format(send.write().first()))
                .put("lastTimestamp", KubeTime.format(send.last()))
                .put("count", send.write().count())
                .put("type", event.type())
                .put("reportingComponent", component)
                .put("reportingInstance", host)
                .build();
    }

    private static String namespace(ObjectRef about) {
        return about.namespace().isEmpty() ? DEFAULT_NAMESPACE : about.namespace();
    }
}
