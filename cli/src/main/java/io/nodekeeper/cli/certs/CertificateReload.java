package io.nodekeeper.cli.certs;

import io.nodekeeper.api.Failures;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks now and then whether the files of the server's certificate hold another one, and has it shown from then on. Files
 * that cannot be used are told of once, and the certificate before stays. Confined to its loop.
 */
public final class CertificateReload {
    private static final Logger log = LoggerFactory.getLogger(CertificateReload.class);
    /** From one look to the next (Kubernetes). */
    static final Duration INTERVAL = Duration.ofMinutes(1);

    private final Loop loop;
    private final IdentityFiles files;
    private final Supplier<CompletableFuture<Identity>> read;
    private final Consumer<Identity> show;
    private Identity shown;
    /** Why the files could not be used when they were last looked at; empty if they could. */
    private String problem = "";

    /**
     * Not yet looking.
     *
     * @param files for messages
     * @param read reads them, in a bounded time
     * @param shown what the server shows so far
     * @param show has the server show another one; throws IllegalArgumentException if that cannot be
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

    /** Looks for the first time after {@link #INTERVAL}, and goes on until the loop is closed. */
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
                    "The server shows the certificate that is in {} now, good until {}",
                    files.certificate(),
                    found.certificate().getNotAfter().toInstant());
        }
    }

    private void tell(String now) {
        if (!now.isEmpty() && !now.equals(problem)) {
            log.warn(
                    "The server's certificate {} and key {} cannot be used, those before stay: {}",
                    files.certificate(),
                    files.key(),
                    now);
        }
        problem = now;
    }
}
