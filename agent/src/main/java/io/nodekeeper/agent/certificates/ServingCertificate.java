package io.nodekeeper.agent.certificates;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.certificates.CertificateRequest;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
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
 * Obtains the serving certificate of the node's API from the cluster, and renews it in time or when the node's addresses
 * change ({@code serverTLSBootstrap}). It asks with a CertificateSigningRequest and waits until that is approved and signed.
 * Confined to its loop, except {@link #state}.
 */
public final class ServingCertificate {
    private static final Logger log = LoggerFactory.getLogger(ServingCertificate.class);
    private static final ResourceType REQUESTS = new ResourceType(
            "certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", false);
    private static final String SIGNER = "kubernetes.io/kubelet-serving";
    /** How long a request may stay undecided, as in a kubelet; then there is a new one. */
    static final Duration PATIENCE = Duration.ofMinutes(15);
    /** Between two looks at a request that is younger than a minute, and at an older one or at the clock. */
    static final Duration SOON = Duration.ofSeconds(1);

    static final Duration LATER = Duration.ofSeconds(10);
    /** The longest pause after requests that were refused; they come after 2 s, 4 s and so on. */
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);
    /** The deadline for small files: only a file system that hangs takes longer. */
    private static final Duration FILES_LIMIT = Duration.ofSeconds(10);

    private final String nodeName;
    private final Supplier<Optional<Node>> node;
    private final KubeClient client;
    private final Loop loop;
    private final BlockingCalls files;
    private final CertificateFile file;
    private final Supplier<KeyPair> keys;
    private final RandomGenerator random;
    private Consumer<Identity> show = identity -> {};
    private Optional<Identity> current = Optional.empty();
    private Instant renewal = Instant.MIN;
    private Optional<Pending> pending = Optional.empty();
    private int failures;
    private Instant notBefore = Instant.MIN;
    private volatile String state = "no certificate has been requested yet";

    private record Pending(String name, KeyPair key, ServingNames names, Instant since) {}

    /**
     * A certificate that is not requested yet.
     *
     * @param node the Node as the API has it
     * @param files runs reads and writes of {@code file}
     * @param keys makes EC keys
     * @param random when the certificate is renewed
     */
    public ServingCertificate(
            String nodeName,
            Supplier<Optional<Node>> node,
            KubeClient client,
            BlockingCalls files,
            CertificateFile file,
            Supplier<KeyPair> keys,
            RandomGenerator random) {
        this.nodeName = nodeName;
        this.node = node;
        this.client = client;
        loop = client.loop();
        this.files = files;
        this.file = file;
        this.keys = keys;
        this.random = random;
    }

    /** Shows each certificate to {@code consumer}, on the loop; called before {@link #start}. */
    public void listen(Consumer<Identity> consumer) {
        show = consumer;
    }

    /** Why there is no certificate, or until when the current one is valid. Thread-safe. */
    public String state() {
        return state;
    }

    /** Uses the stored certificate if there is one, and keeps it fresh until the loop is closed. */
    public void start() {
        files.call("reading the serving certificate", FILES_LIMIT, file::load)
                .whenCompleteAsync(
                        (found, error) -> {
                            if (error != null) {
                                log.warn("The certificate {} cannot be used, requesting another: {}", file, text(error));
                            } else {
                                found.ifPresent(this::take);
                            }
                            tick();
                        },
                        loop);
    }

    private void tick() {
        Instant now = loop.clock().wallTime();
        CompletableFuture<?> done = pending.isPresent() ? look(pending.get(), now) : begin(now);
        done.whenCompleteAsync(
                (nothing, error) -> {
                    if (error != null) {
                        log.warn("The serving certificate: {}", text(error));
                    }
                    boolean young = pending.filter(
                                    asked -> now.isBefore(asked.since.plus(Duration.ofMinutes(1))))
                            .isPresent();
                    boolean waitsForNode = current.isEmpty() && pending.isEmpty() && failures == 0;
                    loop.schedule(young || waitsForNode ? SOON : LATER, this::tick);
                },
                loop);
    }

    private CompletableFuture<?> begin(Instant now) {
        Optional<ServingNames> names = node.get().flatMap(ServingNames::of);
        if (names.isEmpty()) {
            if (current.isEmpty()) {
                state = "the node has no addresses yet for which a certificate could be requested";
            }
            return CompletableFuture.completedFuture(true);
        }
        boolean fresh = current.filter(identity -> now.isBefore(renewal) && isFor(identity, names.get()))
                .isPresent();
        return fresh || now.isBefore(notBefore)
                ? CompletableFuture.completedFuture(true)
                : request(names.get(), now);
    }

    private boolean isFor(Identity identity, ServingNames names) {
        return names.areIn(identity.certificate());
    }

    private CompletableFuture<?> request(ServingNames names, Instant now) {
        KeyPair key = keys.get();
        String pem = CertificateRequest.sign(
                key, "system:node:" + nodeName, "system:nodes", names.dnsNames(), names.addresses());
        JsonObject body = JsonObject.builder()
                .put("metadata", JsonObject.builder().put("generateName", "csr-").build())
                .put(
                        "spec",
                        JsonObject.builder()
                                .put("request", Base64.getEncoder()
                                        .encodeToString(pem.getBytes(StandardCharsets.US_ASCII)))
                                .put("signerName", SIGNER)
                                .put("usages", JsonArray.ofStrings(List.of("digital signature", "server auth")))
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
                            pending = Optional.of(new Pending(name, key, names, now));
                            tell("the request " + name + " waits for approval: kubectl certificate approve " + name);
                            log.info("Requested a serving certificate for {}: {}", names, name);
                            return true;
                        },
                        loop);
    }

    private CompletableFuture<?> look(Pending asked, Instant now) {
        if (now.isAfter(asked.since.plus(PATIENCE))) {
            failed("the request " + asked.name + " was not decided within " + GoDuration.format(PATIENCE), now);
            return CompletableFuture.completedFuture(true);
        }
        if (node.get().flatMap(ServingNames::of).filter(names -> !names.equals(asked.names)).isPresent()) {
            log.info("The node's addresses have changed; the request {} is given up", asked.name);
            pending = Optional.empty();
            return CompletableFuture.completedFuture(true);
        }
        return client.get(REQUESTS, "", asked.name)
                .handleAsync(
                        (request, error) -> error == null ? answered(asked, request, now) : unanswered(asked, error, now),
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
        return files.call("writing the serving certificate", FILES_LIMIT, () -> {
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
        if (!end.isAfter(loop.clock().wallTime())) {
            log.warn("The certificate {} has expired at {}", file, end);
            return;
        }
        current = Optional.of(identity);
        renewal = Renewal.time(identity.certificate(), random);
        state = "a certificate is valid until " + end;
        log.info("The node's API uses a certificate that is valid until {} and is renewed at {}", end, renewal);
        show.accept(identity);
    }

    private void failed(String why, Instant now) {
        pending = Optional.empty();
        failures++;
        Duration pause = Duration.ofSeconds(1L << Math.min(failures, 9));
        notBefore = now.plus(pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE);
        tell(why);
        log.warn("No serving certificate, trying again in {}: {}", GoDuration.format(Duration.between(now, notBefore)), why);
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
