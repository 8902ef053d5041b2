package io.nodekeeper.client.config;

import io.nodekeeper.client.files.SmallFiles;
import io.nodekeeper.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Provides the current bearer token. A token file is read again in the background when the token is a minute old,
 * because kubelets replace service account tokens; if that fails, the old token stays. Thread-safe.
 */
public final class TokenSource {
    private static final Logger log = LoggerFactory.getLogger(TokenSource.class);

    private final Optional<Path> file;
    private final Rereading rereading;
    private volatile String token;

    /** Reads the token file, if there is one; throws IllegalArgumentException if that fails. */
    public TokenSource(ServerAccess access, Clock clock, Executor reader) {
        this.file = access.tokenFile();
        this.rereading = new Rereading(clock, reader);
        try {
            this.token = file.isPresent() ? read(file.get()) : access.token();
        } catch (IOException e) {
            throw new IllegalArgumentException("token file " + file.get() + " cannot be read: " + e.getMessage(), e);
        }
        fault(token).ifPresent(fault -> {
            throw new IllegalArgumentException("the token has " + fault);
        });
    }

    /**
     * Why a token cannot be sent: it has a character that a header cannot have. The HTTP library would say so only with the
     * first call.
     */
    public static Optional<String> fault(String token) {
        return token.chars().allMatch(c -> c > ' ' && c < 0x7f)
                ? Optional.empty()
                : Optional.of("a space, a line break or another character that an HTTP header cannot have");
    }

    /** The token; empty for none. */
    public String current() {
        file.ifPresent(path -> rereading.look(() -> refresh(path)));
        return token;
    }

    private void refresh(Path path) {
        try {
            token = read(path);
        } catch (IOException e) {
            log.warn("token file {} cannot be read, keeping the old token: {}", path, e.getMessage());
        }
    }

    private static String read(Path path) throws IOException {
        String token = SmallFiles.text(path).strip();
        Optional<String> fault = token.isEmpty() ? Optional.of("no text") : fault(token);
        if (fault.isPresent()) {
            throw new IOException("it has " + fault.get());
        }
        return token;
    }
}
