package io.nodekeeper.agent.certificates;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.access.Caller;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
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
 * serverTLSBootstrap}), also when the node's addresses change, or that of the agent as a client ({@code rotateCertificates},
 * {@code --bootstrap-kubeconfig}). It asks with a CertificateSigningRequest and waits until that is approved and signed. Confined to its loop, except
 * {@link #state}.
 */
public final class IssuedCertificate {
    private static final Logger log = LoggerFactory.getLogger(IssuedCertificate.class);
    /** Between two looks at a request that is younger than a minute, and at an older one or at the clock. */
    static final Duration SOON = Duration.ofSeconds(1);

    static final Duration LATER = Duration.ofSeconds(10);
    /** Pauses after requests that were refused. */
    private static final Backoff PAUSE = new Backoff(Duration.ofSeconds(2), Duration.ofMinutes(5));
    /** The deadline for small files: only a file system that hangs takes longer. */
    private static final Duration FILES_LIMIT = Duration.ofSeconds(10);

    private static final CompletableFuture<?> DONE = CompletableFuture.completedFuture(true);

    private final Purpose purpose;
    private final String user;
    private final Supplier<Optional<ServingNames>> names;
    private final Optional<Identity> given;
    private final Ports ports;
    private final Loop loop;
    private final CertificateFile file;
    /** A few servers and connections, which are there before the start. */
    private final List<Consumer<Identity>> listeners = new ArrayList<>();

    private Optional<Identity> current = Optional.empty();
    /** The current one, if it could not be written yet: after a restart only what is in the file would be left. */
    private Optional<Identity> unstored = Optional.empty();

    private Instant renewal = Instant.MIN;
    private Optional<SigningRequest> pending = Optional.empty();
    private int failures;
    /** The end of the pause after a failure, of the monotonic clock: a wall clock may be set back by hours. */
    private long pauseEnd;

    private volatile String state = "no certificate has been requested yet";

    /**
     * The collaborators of a certificate.
     *
     * @param files runs reads and writes of the file in {@code directory}
     * @param keys makes EC keys
     * @param random when the certificate is renewed
     */
    public record Ports(
            KubeClient client, BlockingCalls files, Path directory, Supplier<KeyPair> keys, RandomGenerator random) {}

    private IssuedCertificate(
            Purpose purpose,
            String nodeName,
            Supplier<Optional<ServingNames>> names,
            Optional<Identity> given,
            Ports ports) {
        this.purpose = purpose;
        this.user = user(nodeName);
        this.names = names;
        this.given = given;
        this.ports = ports;
        loop = ports.client().loop();
        file = new CertificateFile(ports.directory(), purpose);
        pauseEnd = loop.clock().nanoTime();
    }

    /**
     * The certificate of the node's API, which is not requested yet.
     *
     * @param node the Node as the API has it
     */
    public static IssuedCertificate serving(String nodeName, Supplier<Optional<Node>> node, Ports ports) {
        return new IssuedCertificate(
                Purpose.SERVING, nodeName, () -> node.get().flatMap(ServingNames::of), Optional.empty(), ports);
    }

    /**
     * The certificate of the agent as a client, which begins as {@code given}. The stored one takes its place if it is not
     * older.
     */
    public static IssuedCertificate client(String nodeName, Identity given, Ports ports) {
        return new IssuedCertificate(
                Purpose.CLIENT, nodeName, () -> Optional.of(ServingNames.NONE), Optional.of(given), ports);
    }

    /** The first certificate of the agent as a client; {@link #startAnew} requests it. */
    public static IssuedCertificate first(String nodeName, Ports ports) {
        return new IssuedCertificate(
                Purpose.CLIENT, nodeName, () -> Optional.of(ServingNames.NONE), Optional.empty(), ports);
    }

    /** Where the current certificate of a client is found, with its key, in {@code directory}. */
    public static Path clientFile(Path directory) {
        return new CertificateFile(directory, Purpose.CLIENT).link();
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
        ports.files()
                .call("reading the " + purpose.text() + " certificate", FILES_LIMIT, file::load)
                .whenCompleteAsync(
                        (found, error) -> {
                            if (error != null) {
                                log.warn("The certificate {} cannot be used: {}", file, Failures.text(error));
                            }
                            Optional<Identity> stored = error == null ? found.filter(this::isBetter) : Optional.empty();
                            stored.or(() -> given).ifPresent(this::take);
                            tick();
                        },
                        loop);
    }

    /** Requests a certificate, whatever is stored, and keeps it fresh until the loop is closed. */
    public void startAnew() {
        loop.execute(this::tick);
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
        CompletableFuture<?> stored =
                unstored.<CompletableFuture<?>>map(this::storeAgain).orElse(DONE);
        CompletableFuture<?> done =
                stored.thenCompose(nothing -> step(loop.clock().wallTime()));
        done.whenCompleteAsync(
                (nothing, error) -> {
                    if (error != null) {
                        log.warn("The {} certificate: {}", purpose.text(), Failures.text(error));
                    }
                    boolean young = pending.filter(
                                    asked -> asked.isYoung(loop.clock().nanoTime()))
                            .isPresent();
                    boolean waitsForNode = current.isEmpty() && pending.isEmpty() && failures == 0;
                    loop.schedule(young || waitsForNode ? SOON : LATER, this::tick);
                },
                loop);
    }

    private CompletableFuture<?> step(Instant now) {
        return pending.isPresent() ? look(pending.get()) : begin(now);
    }

    private CompletableFuture<?> begin(Instant now) {
        Optional<ServingNames> wanted = names.get();
        if (wanted.isEmpty()) {
            if (current.isEmpty()) {
                state = "the node has no addresses yet for which a certificate could be requested";
            }
            return DONE;
        }
        boolean fresh = current.filter(
                        identity -> now.isBefore(renewal) && wanted.get().areIn(identity.certificate()))
                .isPresent();
        return fresh || loop.clock().nanoTime() - pauseEnd < 0 ? DONE : request(wanted.get());
    }

    private CompletableFuture<?> request(ServingNames wanted) {
        KeyPair key = ports.keys().get();
        return ports.client()
                .create(SigningRequest.TYPE, "", SigningRequest.body(purpose, user, key, wanted))
                .handleAsync(
                        (stored, error) -> {
                            if (error != null) {
                                failed("a certificate cannot be requested: " + Failures.text(error));
                                return false;
                            }
                            String name = stored.object("metadata").text("name");
                            pending = Optional.of(new SigningRequest(
                                    name, key, wanted, loop.clock().nanoTime()));
                            tell("the request " + name + " waits for approval: kubectl certificate approve " + name);
                            log.info("Requested a {} certificate for {}: {}", purpose.text(), wanted, name);
                            return true;
                        },
                        loop);
    }

    private CompletableFuture<?> look(SigningRequest asked) {
        if (asked.isOverdue(loop.clock().nanoTime())) {
            failed("the request " + asked.name() + " was not decided within "
                    + GoDuration.format(SigningRequest.PATIENCE));
            return DONE;
        }
        if (names.get().filter(wanted -> !wanted.equals(asked.names())).isPresent()) {
            log.info("The node's addresses have changed; the request {} is given up", asked.name());
            pending = Optional.empty();
            return DONE;
        }
        return ports.client()
                .get(SigningRequest.TYPE, "", asked.name())
                .handleAsync(
                        (request, error) -> error == null ? answered(asked, request) : unanswered(asked, error), loop)
                .thenCompose(next -> next);
    }

    private CompletableFuture<?> unanswered(SigningRequest asked, Throwable error) {
        if (Failures.isCode(error, 404)) {
            failed("the request " + asked.name() + " was deleted");
            return DONE;
        }
        return CompletableFuture.failedFuture(Failures.cause(error));
    }

    private CompletableFuture<?> answered(SigningRequest asked, JsonObject request) {
        return switch (asked.answer(request)) {
            case SigningRequest.Answer.Undecided undecided -> DONE;
            case SigningRequest.Answer.Refused(String why) -> {
                failed(why);
                yield DONE;
            }
            case SigningRequest.Answer.Issued(Identity identity) -> {
                pending = Optional.empty();
                failures = 0;
                // Stored first: who is shown the first certificate refers to its file.
                yield store(identity)
                        .whenCompleteAsync(
                                (stored, error) -> {
                                    unstored = error == null ? Optional.empty() : Optional.of(identity);
                                    take(identity);
                                },
                                loop);
            }
        };
    }

    private CompletableFuture<CertificateFile> store(Identity identity) {
        Instant now = loop.clock().wallTime();
        return ports.files().call("writing the " + purpose.text() + " certificate", FILES_LIMIT, () -> {
            file.store(identity, now);
            return file;
        });
    }

    /** Never fails: the first failure is in the log, and the certificate must be renewed also if its file stays as it is. */
    private CompletableFuture<?> storeAgain(Identity identity) {
        return store(identity)
                .handleAsync(
                        (stored, error) -> {
                            if (error == null) {
                                unstored = Optional.empty();
                                log.info("The {} certificate is now written to {}", purpose.text(), file);
                            }
                            return error == null;
                        },
                        loop);
    }

    private void take(Identity identity) {
        Instant end = identity.certificate().getNotAfter().toInstant();
        current = Optional.of(identity);
        renewal = Renewal.time(identity.certificate(), ports.random());
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

    private void failed(String why) {
        pending = Optional.empty();
        Duration pause = PAUSE.delay(failures++);
        pauseEnd = loop.clock().nanoTime() + pause.toNanos();
        tell(why);
        log.warn("No new {} certificate, trying again in {}: {}", purpose.text(), GoDuration.format(pause), why);
    }

    private void tell(String why) {
        if (current.isEmpty()) {
            state = why;
        }
    }
}
