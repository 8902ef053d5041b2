package io.nodekeeper.agent.certificates;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.access.Caller;
import io.nodekeeper.client.certificates.CertificateRequest;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Obtains a certificate of the node from the cluster, and renews it in time: that of the node's API ({@code
 * serverTLSBootstrap}), also when the node's addresses change, or that of the agent as a client ({@code rotateCertificates}). It
 * asks with a CertificateSigningRequest and waits until that is approved and signed. Confined to its loop, except
 * {@link #state}.
 */
public final class IssuedCertificate {
    private static final Logger log = LoggerFactory.getLogger(IssuedCertificate.class);
    private static final ResourceType REQUESTS = new ResourceType(
            "certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", false);
    /** How long a request may stay undecided, as in a kubelet; then there is a new one. */
    static final Duration PATIENCE = Duration.ofMinutes(15);
    /** Between two looks at a request that is younger than a minute, and at an older one or at the clock. */
    static final Duration SOON = Duration.ofSeconds(1);

    static final Duration LATER = Duration.ofSeconds(10);
    /** The longest pause after requests that were refused; they come after 2 s, 4 s and so on. */
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);
    /** The deadline for small files: only a file system that hangs takes longer. */
    private static final Duration FILES_LIMIT = Duration.ofSeconds(10);

    private final Purpose purpose;
    private final String user;
    private final Supplier<Optional<ServingNames>> names;
    private final Optional<Identity> given;
    private final KubeClient client;
    private final Loop loop;
    private final BlockingCalls files;
    private final CertificateFile file;
    private final Supplier<KeyPair> keys;
    private final RandomGenerator random;
    /** A few servers and connections, which are there before the start. */
    private final List<Consumer<Identity>> listeners = new ArrayList<>();

    private Optional<Identity> current = Optional.empty();
    private Instant renewal = Instant.MIN;
    private Optional<Pending> pending = Optional.empty();
    private int failures;
    private Instant notBefore = Instant.MIN;
    private volatile String state = "no certificate has been requested yet";

    private record Pending(String name, KeyPair key, ServingNames names, Instant since) {}

    private IssuedCertificate(
            Purpose purpose,
            String nodeName,
            Supplier<Optional<ServingNames>> names,
            Optional<Identity> given,
            KubeClient client,
            BlockingCalls files,
            Path root,
            Supplier<KeyPair> keys,
            RandomGenerator random) {
        this.purpose = purpose;
        this.user = user(nodeName);
        this.names = names;
        this.given = given;
        this.client = client;
        loop = client.loop();
        this.files = files;
        this.file = new CertificateFile(root, purpose);
        this.keys = keys;
        this.random = random;
    }

    /**
     * The certificate of the node's API, which is not requested yet.
     *
     * @param node the Node as the API has it
     * @param files runs reads and writes of the file below {@code root}
     * @param keys makes EC keys
     * @param random when the certificate is renewed
     */
    public static IssuedCertificate serving(
            String nodeName,
            Supplier<Optional<Node>> node,
            KubeClient client,
            BlockingCalls files,
            Path root,
            Supplier<KeyPair> keys,
            RandomGenerator random) {
        return new IssuedCertificate(
                Purpose.SERVING,
                nodeName,
                () -> node.get().flatMap(ServingNames::of),
                Optional.empty(),
                client,
                files,
                root,
                keys,
                random);
    }

    /**
     * The certificate of the agent as a client, which begins as {@code given}; the other parameters are as in {@link #serving}.
     * The stored one takes its place if it is not older.
     */
    public static IssuedCertificate client(
            String nodeName,
            Identity given,
            KubeClient client,
            BlockingCalls files,
            Path root,
            Supplier<KeyPair> keys,
            RandomGenerator random) {
        return new IssuedCertificate(
                Purpose.CLIENT,
                nodeName,
                () -> Optional.of(ServingNames.NONE),
                Optional.of(given),
                client,
                files,
                root,
                keys,
                random);
    }

    /** Whether {@code identity} is that of the node, and so can be renewed. */
    public static boolean isOf(String nodeName, Identity identity) {
        return isUser(user(nodeName), identity);
    }

    private static String user(String nodeName) {
        return "system:node:" + nodeName;
    }

    private static boolean isUser(String user, Identity identity) {
        return Caller.of(identity.certificate())
                .filter(caller -> caller.name().equals(user))
                .isPresent();
    }

    /** Shows each certificate to {@code consumer} too, on the loop; called before {@link #start}. */
    public void listen(Consumer<Identity> consumer) {
        listeners.add(consumer);
    }

    /** Why there is no certificate, or until when the current one is valid. Thread-safe. */
    public String state() {
        return state;
    }

    /** Uses the stored certificate if there is one, and keeps it fresh until the loop is closed. */
    public void start() {
        files.call("reading the " + purpose.text() + " certificate", FILES_LIMIT, file::load)
                .whenCompleteAsync(
                        (found, error) -> {
                            if (error != null) {
                                log.warn("The certificate {} cannot be used: {}", file, text(error));
                            }
                            Optional<Identity> stored = error == null ? found.filter(this::isBetter) : Optional.empty();
                            stored.or(() -> given).ifPresent(this::take);
                            tick();
                        },
                        loop);
    }

    /** Whether a stored certificate can be used, and is not older than the one that was given. */
    private boolean isBetter(Identity stored) {
        Instant end = stored.certificate().getNotAfter().toInstant();
        if (!isUser(user, stored) || !end.isAfter(loop.clock().wallTime())) {
            log.warn("The certificate {} of {} has expired, or is not of {}", file, stored, user);
            return false;
        }
        return given.filter(other -> other.certificate()
                        .getNotBefore()
                        .after(stored.certificate().getNotBefore()))
                .isEmpty();
    }

    private void tick() {
        Instant now = loop.clock().wallTime();
        CompletableFuture<?> done = pending.isPresent() ? look(pending.get(), now) : begin(now);
        done.whenCompleteAsync(
                (nothing, error) -> {
                    if (error != null) {
                        log.warn("The {} certificate: {}", purpose.text(), text(error));
                    }
                    boolean young = pending.filter(asked -> now.isBefore(asked.since.plus(Duration.ofMinutes(1))))
                            .isPresent();
                    boolean waitsForNode = current.isEmpty() && pending.isEmpty() && failures == 0;
                    loop.schedule(young || waitsForNode ? SOON : LATER, this::tick);
                },
                loop);
    }

    private CompletableFuture<?> begin(Instant now) {
        Optional<ServingNames> wanted = names.get();
        if (wanted.isEmpty()) {
            if (current.isEmpty()) {
                state = "the node has no addresses yet for which a certificate could be requested";
            }
            return CompletableFuture.completedFuture(true);
        }
        boolean fresh = current.filter(
                        identity -> now.isBefore(renewal) && wanted.get().areIn(identity.certificate()))
                .isPresent();
        return fresh || now.isBefore(notBefore) ? CompletableFuture.completedFuture(true) : request(wanted.get(), now);
    }

    private CompletableFuture<?> request(ServingNames wanted, Instant now) {
        KeyPair key = keys.get();
        String pem = CertificateRequest.sign(key, user, "system:nodes", wanted.dnsNames(), wanted.addresses());
        JsonObject body = JsonObject.builder()
                .put(
                        "metadata",
                        JsonObject.builder().put("generateName", "csr-").build())
                .put(
                        "spec",
                        JsonObject.builder()
                                .put(
                                        "request",
                                        Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII)))
                                .put("signerName", purpose.signer())
                                .put("usages", JsonArray.ofStrings(List.of("digital signature", purpose.usage())))
                                .build())
                .build();
        return client.create(REQUESTS, "", body)
                .handleAsync(
                        (stored, error) -> {
                            if (error != null) {
                                failed("a certificate cannot be requested: " + text(error), now);
                                return false;
                            }
                            String name = stored.object("metadata").text("name");
                            pending = Optional.of(new Pending(name, key, wanted, now));
                            tell("the request " + name + " waits for approval: kubectl certificate approve " + name);
                            log.info("Requested a {} certificate for {}: {}", purpose.text(), wanted, name);
                            return true;
                        },
                        loop);
    }

    private CompletableFuture<?> look(Pending asked, Instant now) {
        if (now.isAfter(asked.since.plus(PATIENCE))) {
            failed("the request " + asked.name + " was not decided within " + GoDuration.format(PATIENCE), now);
            return CompletableFuture.completedFuture(true);
        }
        if (names.get().filter(wanted -> !wanted.equals(asked.names)).isPresent()) {
            log.info("The node's addresses have changed; the request {} is given up", asked.name);
            pending = Optional.empty();
            return CompletableFuture.completedFuture(true);
        }
        return client.get(REQUESTS, "", asked.name)
                .handleAsync(
                        (request, error) ->
                                error == null ? answered(asked, request, now) : unanswered(asked, error, now),
                        loop)
                .thenCompose(next -> next);
    }

    private CompletableFuture<?> unanswered(Pending asked, Throwable error, Instant now) {
        if (Failures.isCode(error, 404)) {
            failed("the request " + asked.name + " was deleted", now);
            return CompletableFuture.completedFuture(true);
        }
        return CompletableFuture.failedFuture(Failures.cause(error));
    }

    private CompletableFuture<?> answered(Pending asked, JsonObject request, Instant now) {
        JsonObject status = request.object("status");
        Optional<JsonObject> refusal = status.array("conditions")
                .objects()
                .filter(condition -> List.of("Denied", "Failed").contains(condition.text("type")))
                .findFirst();
        if (refusal.isPresent()) {
            failed(
                    "the request " + asked.name + " is " + refusal.get().text("type") + ": "
                            + refusal.get().text("reason") + " " + refusal.get().text("message"),
                    now);
            return CompletableFuture.completedFuture(true);
        }
        String issued = status.text("certificate");
        if (issued.isEmpty()) {
            return CompletableFuture.completedFuture(true);
        }
        Identity identity;
        try {
            identity = identity(asked, issued);
        } catch (IllegalArgumentException e) {
            failed("the certificate of the request " + asked.name + " cannot be used: " + e.getMessage(), now);
            return CompletableFuture.completedFuture(true);
        }
        pending = Optional.empty();
        failures = 0;
        take(identity);
        return files.call("writing the " + purpose.text() + " certificate", FILES_LIMIT, () -> {
            file.store(identity, now);
            return file;
        });
    }

    private static Identity identity(Pending asked, String issued) {
        List<X509Certificate> chain =
                Pem.certificates(new String(Base64.getDecoder().decode(issued), StandardCharsets.ISO_8859_1));
        if (!chain.getFirst().getPublicKey().equals(asked.key.getPublic())) {
            throw new IllegalArgumentException("it is for another key");
        }
        return new Identity(asked.key.getPrivate(), chain);
    }

    private void take(Identity identity) {
        Instant end = identity.certificate().getNotAfter().toInstant();
        current = Optional.of(identity);
        renewal = Renewal.time(identity.certificate(), random);
        state = "a certificate is valid until " + end;
        log.info("The {} certificate is valid until {} and is renewed at {}", purpose.text(), end, renewal);
        for (Consumer<Identity> listener : listeners) {
            try {
                listener.accept(identity);
            } catch (IllegalArgumentException e) {
                log.error("The {} certificate {} cannot be used: {}", purpose.text(), identity, e.getMessage());
            }
        }
    }

    private void failed(String why, Instant now) {
        pending = Optional.empty();
        failures++;
        Duration pause = Duration.ofSeconds(1L << Math.min(failures, 9));
        notBefore = now.plus(pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE);
        tell(why);
        log.warn(
                "No new {} certificate, trying again in {}: {}",
                purpose.text(),
                GoDuration.format(Duration.between(now, notBefore)),
                why);
    }

    private void tell(String why) {
        if (current.isEmpty()) {
            state = why;
        }
    }

    private static String text(Throwable error) {
        return Failures.text(error);
    }
}
