package io.nodekeeper.cli.certs;

import io.nodekeeper.api.Failures;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.IdentityFiles;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the files of the server's certificate periodically and uses a changed certificate for new connections. Logs
 * unusable files once and keeps the previous certificate. Confined to its loop.
 */
public final class CertificateReload {
    private static final Logger log = LoggerFactory.getLogger(CertificateReload.class);
    /** The time between two checks, as in Kubernetes. */
    static final Duration INTERVAL = Duration.ofMinutes(1);

    private final Loop loop;
    private final IdentityFiles files;
    private final Supplier<CompletableFuture<Identity>> read;
    private final Consumer<Identity> show;
    private Identity shown;
    /** Why the files were unusable at the last check; empty if they were usable. */
    private String problem = "";

    /**
     * Creates a reload that has not started.
     *
     * @param files for messages
     * @param read reads them, in a bounded time
     * @param shown the certificate in use
     * @param show makes the server use another certificate; throws IllegalArgumentException if that is unusable
     */
    public CertificateReload(
            Loop loop,
            IdentityFiles files,
            Supplier<CompletableFuture<Identity>> read,
            Identity shown,
            Consumer<Identity> show) {
        this.loop = loop;
        this.files = files;
        this.read = read;
        this.shown = shown;
        this.show = show;
    }

    /** Checks after each {@link #INTERVAL} until the loop is closed. */
    public void start() {
        loop.schedule(INTERVAL, this::look);
    }

    private void look() {
        read.get()
                .thenAcceptAsync(this::take, loop)
                .whenCompleteAsync(
                        (done, error) -> {
                            tell(error == null ? "" : Failures.cause(error).toString());
                            start();
                        },
                        loop);
    }

    private void take(Identity found) {
        if (!found.equals(shown)) {
            show.accept(found);
            shown = found;
            log.info(
                    "The server now uses the certificate in {}, valid until {}",
                    files.certificate(),
                    found.certificate().getNotAfter().toInstant());
        }
    }

    private void tell(String now) {
        if (!now.isEmpty() && !now.equals(problem)) {
            log.warn(
                    "The server's certificate {} and key {} are unusable; the server keeps the previous ones: {}",
                    files.certificate(),
                    files.key(),
                    now);
        }
        problem = now;
    }
}
