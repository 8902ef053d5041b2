package io.nodekeeper.cli.guard;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.controller.guard.SwitchState;
import io.nodekeeper.controller.guard.Webhook;
import io.nodekeeper.time.Loop;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the webhook configuration periodically: follows its switch, and keeps the guard's certificate among those that
 * it trusts. A new certificate is published first and shown to clients later. Tells the endpoint whether the configuration
 * trusts what it shows. Confined to its loop.
 */
final class WebhookKeeper {
    private static final Logger log = LoggerFactory.getLogger(WebhookKeeper.class);
    /** How soon a switch takes effect, and a new certificate is published. */
    static final Duration PERIOD = Duration.ofSeconds(10);
    /** How long API servers may take to notice a changed configuration; they watch it, so usually a second. */
    static final Duration PROPAGATION = Duration.ofMinutes(1);
    /** The deadline of each call. */
    private static final Duration CALL_LIMIT = Duration.ofSeconds(5);

    /** How long a bundle that has not changed is not parsed; only expired certificates would be found. */
    private static final Duration PARSED = Duration.ofHours(1);

    /** The endpoint whose certificates are kept. */
    interface Endpoint {
        /** Uses a certificate for new connections. */
        void show(Identity identity);

        /**
         * Whether the configuration, as it was just read, does not trust what the endpoint shows. A configuration that
         * another client keeps resetting mismatches each time, though each time it is repaired.
         */
        void mismatch(boolean found);
    }

    private record Complete(String bundle, List<X509Certificate> own, Instant at) {
        boolean covers(String stored, List<X509Certificate> wanted, Instant now) {
            return bundle.equals(stored) && own.equals(wanted) && !now.isBefore(at) && now.isBefore(at.plus(PARSED));
        }
    }

    private final Loop loop;
    private final KubeClient client;
    private final SwitchState state;
    private final RandomGenerator random;
    private final Endpoint endpoint;
    private Optional<ServingCertificate> current = Optional.empty();
    private Optional<ServingCertificate> next = Optional.empty();
    /** When the API server accepted {@link #next}, nanoseconds by the loop's clock; empty if it did not yet. */
    private Optional<Long> publishedAt = Optional.empty();
    /** The last bundle that was complete, and for which certificates. */
    private Complete complete = new Complete("", List.of(), Instant.MIN);
    /** The last trouble, to log each once. */
    private String trouble = "";

    WebhookKeeper(Loop loop, KubeClient client, SwitchState state, RandomGenerator random, Endpoint endpoint) {
        this.loop = loop;
        this.client = client.withTimeout(CALL_LIMIT);
        this.state = state;
        this.random = random;
        this.endpoint = endpoint;
    }

    /** Starts; ends when the loop is closed. */
    void start() {
        loop.execute(this::look);
    }

    private void look() {
        client.get(Webhook.TYPE, "", Webhook.NAME)
                .exceptionally(error -> {
                    if (Failures.isCode(error, 404)) {
                        return JsonObject.EMPTY;
                    }
                    throw new IllegalStateException(Failures.text(error), error);
                })
                .thenCompose(json -> found(new Webhook(json)))
                .whenComplete((done, error) -> {
                    tell(error == null ? done : "cannot keep the webhook configuration: " + Failures.text(error));
                    loop.schedule(PERIOD, this::look);
                });
    }

    /** Follows the stored configuration; completes with a trouble, or with an empty text. */
    private CompletableFuture<String> found(Webhook stored) {
        state.read(stored.off(), loop.clock().nanoTime());
        List<String> names = stored.serverNames();
        if (names.isEmpty()) {
            endpoint.mismatch(false);
            return CompletableFuture.completedFuture(
                    stored.off().orElse("the webhook configuration has no webhook of the guard"));
        }
        Instant now = loop.clock().wallTime();
        endpoint.mismatch(!isTrusted(stored, names, now));
        boolean wanted = current.map(used -> used.isOld(names, now)).orElse(true);
        if (!wanted) {
            // One for names that were wanted meanwhile.
            next = Optional.empty();
            publishedAt = Optional.empty();
        }
        if (wanted && next.map(waiting -> waiting.isOld(names, now)).orElse(true)) {
            next = Optional.of(ServingCertificate.issue(names, now, random));
            publishedAt = Optional.empty();
        }
        List<X509Certificate> own = Stream.of(next, current)
                .flatMap(Optional::stream)
                .map(ServingCertificate::authority)
                .toList();
        if (complete.covers(stored.caBundle(), own, now)) {
            published();
            return CompletableFuture.completedFuture("");
        }
        String bundle = TrustBundle.merged(stored.caBundle(), own, now);
        if (bundle.equals(stored.caBundle())) {
            complete = new Complete(bundle, own, now);
            published();
            return CompletableFuture.completedFuture("");
        }
        return client.update(
                        Webhook.TYPE,
                        "",
                        Webhook.NAME,
                        stored.withCaBundle(bundle).json())
                .thenApply(updated -> {
                    log.info("The webhook configuration trusts the guard's certificate for {}", names);
                    published();
                    return "";
                });
    }

    /** Whether API servers accept what clients are shown, by the configuration {@code stored} for {@code names}. */
    private boolean isTrusted(Webhook stored, List<String> names, Instant now) {
        return current.filter(used -> used.isAcceptedFor(names, now))
                .map(ServingCertificate::authority)
                .filter(authority -> (complete.bundle.equals(stored.caBundle()) && complete.own.contains(authority))
                        || TrustBundle.read(stored.caBundle()).contains(authority))
                .isPresent();
    }

    /** The API server trusts all own certificates. */
    private void published() {
        if (next.isEmpty()) {
            return;
        }
        long now = loop.clock().nanoTime();
        long since = publishedAt.orElse(now);
        publishedAt = Optional.of(since);
        if (current.isEmpty() || now - since >= PROPAGATION.toNanos()) {
            endpoint.show(next.get().identity());
            current = next;
            next = Optional.empty();
            publishedAt = Optional.empty();
        }
    }

    private void tell(String now) {
        if (!now.isEmpty() && !now.equals(trouble)) {
            log.warn("{}", now);
        }
        trouble = now;
    }
}
