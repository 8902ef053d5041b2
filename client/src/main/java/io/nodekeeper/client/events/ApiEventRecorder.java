package io.nodekeeper.client.events;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.Texts;
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
 * Writes Events of core/v1 to the API server, one after another in the background, after {@link EventCorrelator} has
 * counted, combined or dropped them. If there are more events than the server accepts, {@link EventQueue} keeps the
 * most important ones. Memory and log do not grow with the number of events; all events that are not written are
 * counted. Events may be recorded on any thread; the rest is confined to the client's loop.
 */
public final class ApiEventRecorder implements EventRecorder {
    /** The outcome of an event. */
    public enum Outcome {
        /** It was written, as a new Event object or as a higher count of one. */
        WRITTEN,
        /** A later write of its Event object includes it. */
        MERGED,
        /** Its object had too many events, so it was only counted. */
        SUPPRESSED,
        /** More important or newer events replaced it in the queue. */
        DROPPED,
        /** The server refused it, or did not accept it in time. */
        FAILED;

        /** The value as a metric label. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Receives the outcomes of events, for metrics. Called on the loop. */
    public interface Watcher {
        /** An event had this outcome. */
        void ended(Outcome outcome);
    }

    private static final Logger log = LoggerFactory.getLogger(ApiEventRecorder.class);
    /** As in client-go: with the waits between attempts, an event survives an outage of a minute and a half. */
    private static final int TRIES = 12;
    /** The burst of logged events, and the rate per second after it: more than there are in normal operation. */
    private static final int LOG_BURST = 100;
    /** See {@link #LOG_BURST}. */
    private static final double LOGS_PER_SECOND = 1;

    /** Kubernetes' limit for notes of events. Messages contain names of images, which have none. */
    private static final int LONGEST_MESSAGE = 1_024;

    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(10));
    /** The namespace for events of objects without a namespace, as in Kubernetes. */
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

    /** The same with a watcher. */
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
        record(about, type, reason, message, component);
    }

    /**
     * Records events of another component, which take nothing of this one's share of events about an object; this component's
     * if {@code other} is empty.
     */
    public EventRecorder of(String other) {
        return other.isEmpty() ? this : (about, type, reason, message) -> record(about, type, reason, message, other);
    }

    private void record(ObjectRef about, String type, String reason, String message, String source) {
        EventCorrelator.Input event =
                new EventCorrelator.Input(about, type, reason, Texts.cut(message, LONGEST_MESSAGE, "..."), source);
        loop.execute(() -> accept(event));
    }

    /** The number of Event objects that wait to be written; on the loop. */
    public int waiting() {
        return waiting.size();
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
     * {@code <object>.<hex of unix nanoseconds>}. Clocks are coarser than nanoseconds, so the lower digits are random.
     * Two processes then do not use the same name for events of one object at the same time.
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
                        // No other process uses this name: an earlier attempt was written, but its response was lost.
                        watcher.ended(Outcome.WRITTEN);
                        sendNext();
                    } else if (attempt < TRIES && Failures.mayPass(error)) {
                        log.debug(
                                "writing event {} failed, retrying: {}",
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
                // Events expire after an hour; an expired one is created again with its count.
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
                                .put("component", event.source())
                                .putUnlessEmpty("host", host)
                                .build())
                .put("firstTimestamp", KubeTime.format(send.write().first()))
                .put("lastTimestamp", KubeTime.format(send.last()))
                .put("count", send.write().count())
                .put("type", event.type())
                .put("reportingComponent", event.source())
                .put("reportingInstance", host)
                .build();
    }

    private static String namespace(ObjectRef about) {
        return about.namespace().isEmpty() ? DEFAULT_NAMESPACE : about.namespace();
    }
}
