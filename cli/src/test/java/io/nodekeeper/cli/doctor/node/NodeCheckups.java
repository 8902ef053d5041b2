package io.nodekeeper.cli.doctor.node;

import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.time.Loop;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Checkups of tests. */
public final class NodeCheckups {
    private NodeCheckups() {}

    /** A checkup with these checks. */
    public static NodeCheckup of(Loop loop, Check... checks) {
        return NodeCheckup.of(loop, List.of(checks));
    }

    /** A check that finds this at once. */
    public static Check found(String name, CheckResult.State state, String text, String next) {
        return new Check(name, () -> CompletableFuture.completedFuture(new CheckResult(name, state, text, next)));
    }

    /** A check that never ends. */
    public static Check silent(String name) {
        return new Check(name, CompletableFuture::new);
    }

    /** The reads of an API server on the loopback address. */
    public record Reads(ApiServerReads reads) implements AutoCloseable {
        @Override
        public void close() {
            reads.close();
        }
    }

    /** Reads of Node n1 over plain HTTP, with that token. */
    public static Reads reads(int port, String token, Loop loop) {
        ServerAccess access = new ServerAccess(
                URI.create("http://127.0.0.1:" + port),
                List.of(),
                false,
                "",
                Optional.empty(),
                token,
                Optional.empty());
        return new Reads(new ApiServerReads(access, "n1", loop));
    }

    /** A check with a short deadline. */
    public record Check(String name, Supplier<CompletableFuture<CheckResult>> work) implements NodeCheck {
        @Override
        public Duration deadline() {
            return Duration.ofMillis(100);
        }

        @Override
        public CompletableFuture<CheckResult> run() {
            return work.get();
        }
    }
}
