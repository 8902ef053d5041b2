package io.nodekeeper.client.config;

import io.nodekeeper.api.Failures;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the credential of a plugin: the plugin runs when a credential is first needed, shortly before it expires, and after
 * the server refused it. All calls wait for one run. A run that fails changes nothing as long as the credential is valid.
 * Thread-safe; its state is confined to a loop.
 */
public final class ExecCredentials {
    /** So long before it expires a credential is renewed in the background: the longest time that a plugin may take. */
    static final Duration EARLY = Duration.ofMinutes(1);
    /** The shortest pause between two runs. A plugin that fails, or whose credentials are refused, runs no more often. */
    static final Duration PAUSE = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger(ExecCredentials.class);

    private final Loop loop;
    private final Supplier<CompletableFuture<ExecCredential>> plugin;
    private Optional<ExecCredential> kept = Optional.empty();
    private boolean isRefused;
    private Optional<CompletableFuture<ExecCredential>> run = Optional.empty();
    private long ranAt;

    /** {@code plugin} runs the plugin, on {@code loop}. */
    public ExecCredentials(Loop loop, Supplier<CompletableFuture<ExecCredential>> plugin) {
        this.loop = loop;
        this.plugin = plugin;
    }

    /** The credential; fails with {@link CredentialException} if the plugin provides none. */
    public CompletableFuture<ExecCredential> current() {
        return Futures.startOn(loop, this::now);
    }

    /** The server has answered 401 to {@code used}. */
    public void refused(ExecCredential used) {
        loop.execute(
                () -> isRefused |= kept.filter(credential -> credential == used).isPresent());
    }

    private CompletableFuture<ExecCredential> now() {
        Instant now = loop.clock().wallTime();
        Optional<ExecCredential> valid = kept.filter(credential -> !isRefused && !credential.hasExpired(now));
        if (valid.filter(credential -> !credential.hasExpired(now.plus(EARLY))).isEmpty() && mayRun()) {
            start();
        }
        if (valid.isPresent()) {
            return CompletableFuture.completedFuture(valid.get());
        }
        // The last run: it is under way, or it was a moment ago, and what it gave or why it failed still holds.
        return run.orElseThrow();
    }

    private boolean mayRun() {
        return run.isEmpty() || run.get().isDone() && loop.clock().nanoTime() - ranAt >= PAUSE.toNanos();
    }

    private void start() {
        CompletableFuture<ExecCredential> started = plugin.get()
                .whenCompleteAsync(
                        (credential, error) -> {
                            ranAt = loop.clock().nanoTime();
                            if (error == null) {
                                kept = Optional.of(credential);
                                isRefused = false;
                            } else if (kept.isPresent()) {
                                log.warn("the credential was not renewed: {}", Failures.text(error));
                            }
                        },
                        loop);
        run = Optional.of(started);
    }
}
