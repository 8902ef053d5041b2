package io.nodekeeper.client.config;

import io.nodekeeper.time.Clock;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the files of a client certificate, which others replace before it expires, such as kubelets and cert-manager. Reads them
 * again in the background when they were read a minute ago; if they cannot be used, the certificate in use stays. Thread-safe.
 */
public final class IdentitySource {
    private static final Logger log = LoggerFactory.getLogger(IdentitySource.class);

    private final IdentityFiles files;
    private final Rereading rereading;
    private final Consumer<Identity> changed;
    /** Used by one reading after the other. */
    private volatile Identity read;
    /** Why the files could not be used the last time; empty if they could. */
    private volatile String problem = "";

    /**
     * A source for {@code files}, which held {@code read} a moment ago.
     *
     * @param reader reads the files
     * @param changed gets each other certificate, on the reader's thread; throws IllegalArgumentException if it cannot be used
     */
    public IdentitySource(
            IdentityFiles files, Identity read, Clock clock, Executor reader, Consumer<Identity> changed) {
        this.files = files;
        this.rereading = new Rereading(clock, reader);
        this.changed = changed;
        this.read = read;
    }

    /** Reads the files again if it is time. Does not wait for it. */
    public void look() {
        rereading.look(this::read);
    }

    private void read() {
        try {
            Identity found = files.read();
            if (!found.equals(read)) {
                changed.accept(found);
                read = found;
                log.info(
                        "Uses the client certificate in {}, valid until {}",
                        files.certificate(),
                        found.certificate().getNotAfter().toInstant());
            }
            problem = "";
        } catch (IOException | IllegalArgumentException e) {
            String now = String.valueOf(e.getMessage());
            // Once: the next reading finds them whole if they are being replaced.
            if (!now.equals(problem)) {
                log.warn(
                        "{} and {} cannot be used, keeping the client certificate in use: {}",
                        files.certificate(),
                        files.key(),
                        now);
            }
            problem = now;
        }
    }
}
