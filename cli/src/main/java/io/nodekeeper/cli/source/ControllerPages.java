package io.nodekeeper.cli.source;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.output.Printable;
import io.nodekeeper.cli.pages.InstancePages;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.controller.debug.DebugAddress;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Reads pages of the leading controller: from {@code --server}; or else from the address that the API names, and
 * through the API server's proxy if that address does not answer soon. Used by one thread; {@link #close} it.
 */
public final class ControllerPages implements AutoCloseable {
    /** The deadline of each request to the API: far more than it takes, and a person waits at a terminal. */
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);
    /** The deadline for a page, which may read many files of history. */
    private static final Duration PAGE_TIMEOUT = Duration.ofSeconds(20);
    /**
     * After this time without an answer a message says that the API server may be away: together with the start of
     * the process it is less than a second, and longer than the answer of a busy server takes.
     */
    private static final Duration NOTICE = Duration.ofMillis(600);
    /** After this time without an answer from the published address the proxy is asked, too. */
    private static final Duration HEDGE = Duration.ofSeconds(1);
    /** How often the proxy is asked until the leader answers: with two replicas, 6 standbys in a row are 1 in 64. */
    private static final int TRIES = 6;

    private final SourceOptions options;
    private final Loop loop;
    private final PrintWriter err;
    private Optional<HttpTransport> transport = Optional.empty();
    /** Whether the proxy is being asked. */
    private final AtomicBoolean asked = new AtomicBoolean();

    /** The address that the API names, or why it names none, for people. */
    private record Published(Optional<URI> address, String missing) {}

    /** {@code err} receives notes about an API server that does not answer; the results complete on {@code loop}. */
    public ControllerPages(SourceOptions options, Loop loop, PrintWriter err) {
        this.options = options;
        this.loop = loop;
        this.err = err;
    }

    /**
     * The page at {@code target}, a path with its query.
     *
     * @throws NoControllerException if the API server answers, but no controller does
     * @throws IOException if {@code --server} or the API server does not answer
     */
    public Answer get(String target) throws IOException {
        if (options.server.isPresent()) {
            URI server = options.server.get();
            try {
                return direct(options.access(server), server, target).join();
            } catch (CompletionException e) {
                throw new IOException(Failures.text(e), e);
            }
        }
        Published published = published();
        Optional<URI> address = published.address();
        asked.set(false);
        CompletableFuture<Answer> proxied = new CompletableFuture<>();
        if (address.isEmpty()) {
            ask(target, proxied);
        }
        CompletableFuture<Answer> direct = address.map(
                        url -> direct(SourceOptions.anonymous(url), InstancePages.server(url), target))
                .orElseGet(() -> CompletableFuture.failedFuture(new IOException(published.missing())));
        if (address.isPresent()) {
            Loop.Timer hedge = loop.schedule(HEDGE, () -> ask(target, proxied));
            direct.whenComplete((answer, error) -> {
                hedge.cancel();
                if (error == null) {
                    proxied.complete(answer);
                } else {
                    ask(target, proxied);
                }
            });
        }
        try {
            return first(direct, proxied).join();
        } catch (CompletionException e) {
            throw new NoControllerException(Failures.text(direct.exceptionNow()) + "; " + Failures.text(e));
        }
    }

    /** The API server. */
    public KubeClient api() {
        return new KubeClient(transport(), loop, CALL_TIMEOUT);
    }

    /** The first success; the failure of {@code second} if both fail. */
    private static CompletableFuture<Answer> first(CompletableFuture<Answer> one, CompletableFuture<Answer> second) {
        CompletableFuture<Answer> first = new CompletableFuture<>();
        one.thenAccept(first::complete);
        second.whenComplete((answer, error) -> {
            if (error == null) {
                first.complete(answer);
            } else {
                one.whenComplete((known, other) -> first.completeExceptionally(error));
            }
        });
        return first;
    }

    private Published published() throws IOException {
        String server = transport().toString();
        try {
            // A plugin that provides the credentials may take longer than the notice, or ask a person.
            transport().authenticated().join();
        } catch (CompletionException e) {
            throw new IOException(Failures.text(e), e);
        }
        Loop.Timer notice = loop.schedule(NOTICE, () -> {
            err.println("The API server " + server + " has not answered for " + NOTICE.toMillis()
                    + "ms; still waiting. " + elsewhere());
            err.flush();
        });
        try {
            return new Published(
                    DebugAddress.find(api()).join(),
                    "no controller has published its address (annotation " + DebugAddress.ANNOTATION + ")");
        } catch (CompletionException e) {
            if (Failures.isCode(e, 403)) {
                // The proxy and the API need other rights.
                return new Published(
                        Optional.empty(),
                        "the address that the controller has published cannot be read: " + Failures.text(e));
            }
            String fault = Failures.cause(e) instanceof ApiException refused
                    ? " answers " + refused.code() + ": "
                    : " does not answer: ";
            throw new IOException(
                    "the API server " + server + fault + Failures.text(e) + proxyAdvice(e) + "\n" + elsewhere(), e);
        } finally {
            notice.cancel();
        }
    }

    private String proxyAdvice(Throwable error) {
        return Failures.cause(error) instanceof ApiException ? "" : options.client.proxyAdvice();
    }

    private static String elsewhere() {
        return "Without it: --server URL asks a controller, such as http://127.0.0.1:10257 on its machine (20257 with the systemd unit);"
                + " \"nodekeeper why NODE --history-dir DIR\" reads a controller's files.";
    }

    private CompletableFuture<Answer> direct(ServerAccess access, URI server, String target) {
        HttpTransport own;
        try {
            own = new HttpTransport(access);
        } catch (IllegalArgumentException e) {
            return CompletableFuture.failedFuture(e);
        }
        String from = "the controller at " + server;
        return own.authenticated()
                .thenCompose(ready -> page(own, target, from, from + " cannot be reached: ", false))
                .whenComplete((answer, error) -> own.close());
    }

    /** Asks through the proxy unless it was asked already, until the leader answers. */
    private void ask(String target, CompletableFuture<Answer> result) {
        if (!result.isDone() && asked.compareAndSet(false, true)) {
            ask(target, result, 1);
        }
    }

    private void ask(String target, CompletableFuture<Answer> result, int number) {
        String from = "the controller behind the service " + options.namespace + "/" + options.nameAndPort();
        page(transport(), options.proxy() + target, from, from + " cannot be reached through the API server: ", true)
                .whenComplete((answer, error) -> {
                    if (error != null) {
                        result.completeExceptionally(error);
                    } else if (answer.notWorking().isPresent() && number < TRIES) {
                        ask(target, result, number + 1);
                    } else {
                        result.complete(answer);
                    }
                });
    }

    private CompletableFuture<Answer> page(
            Transport way, String target, String from, String unreachable, boolean proxied) {
        return Deadlines.within(loop, PAGE_TIMEOUT, from, way.send(Call.get(target), loop, PAGE_TIMEOUT))
                .exceptionallyCompose(error -> CompletableFuture.failedFuture(new IOException(
                        unreachable
                                + Failures.text(error)
                                + (proxied
                                        ? Advice.proxied(error)
                                        : Advice.connection(Failures.text(error)) + proxyAdvice(error)),
                        error)))
                .thenCompose(reply -> {
                    try {
                        return CompletableFuture.completedFuture(answer(from, reply, proxied));
                    } catch (IOException e) {
                        return CompletableFuture.failedFuture(e);
                    }
                });
    }

    private static Answer answer(String from, Reply reply, boolean proxied) throws IOException {
        String text = new String(reply.body(), StandardCharsets.UTF_8).strip();
        boolean isRefusal = text.startsWith("{") && text.contains("\"Status\"");
        if (reply.status() == 200) {
            try {
                return new Answer(from, Optional.of(Json.parseObject(reply.body())));
            } catch (JsonException e) {
                throw new IOException(from + " is not a controller: " + e.getMessage(), e);
            }
        }
        if (reply.status() == 404 && !isRefusal) {
            return new Answer(from, Optional.empty());
        }
        if (reply.status() == InstancePages.MISDIRECTED) {
            throw new IOException(from + " is another one than the leader, which has published this address for its own"
                    + " machine");
        }
        String said = Printable.line(isRefusal ? message(text) : text, Printable.VALUE);
        throw new IOException(from + " answers " + reply.status() + ": " + said
                + (proxied ? Advice.proxied(reply.status(), said) : Advice.direct(reply.status())));
    }

    private static String message(String status) {
        try {
            JsonObject json = Json.parseObject(status);
            return json.text("message");
        } catch (JsonException e) {
            return status;
        }
    }

    private HttpTransport transport() {
        HttpTransport open = transport.orElseGet(() -> new HttpTransport(options.client.access()));
        transport = Optional.of(open);
        return open;
    }

    @Override
    public void close() {
        transport.ifPresent(HttpTransport::close);
    }
}
