package io.nodekeeper.cli.doctor.node;

import io.nodekeeper.api.Failures;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/** The loops of the kubelet or agent, by its health check on the loopback address. */
final class HealthCheck implements NodeCheck {
    private static final String NAME = "kubelet or agent";
    /** The page has a line for each of some ten checks. */
    private static final int LIMIT = 64 << 10;
    /** The most failed checks in the sentence. */
    private static final int SHOWN = 3;

    private final int port;
    private final NodeAccess access;
    private final Workers workers;
    private final Clock clock;

    /** {@code access} are the credentials of this machine's node: with some a kubelet or agent must run. */
    HealthCheck(int port, NodeAccess access, Workers workers, Clock clock) {
        this.port = port;
        this.access = access;
        this.workers = workers;
        this.clock = clock;
    }

    @Override
    public String name() {
        return NAME;
    }

    /** Connecting and reading have 2 s each. */
    @Override
    public Duration deadline() {
        return Duration.ofSeconds(5);
    }

    @Override
    public CompletableFuture<CheckResult> run() {
        return workers.call("the health check at port " + port, deadline(), () -> {
            long begin = clock.nanoTime();
            try {
                LocalPage page = LocalPage.read(port, "/healthz?verbose", LIMIT);
                return judge(port, access.unit(), page, Duration.ofNanos(clock.nanoTime() - begin));
            } catch (ConnectException e) {
                return absent(port, access);
            } catch (IOException e) {
                return CheckResult.failed(
                        NAME,
                        "127.0.0.1:" + port + " accepts connections, but gives no answer: " + Failures.text(e),
                        "journalctl -u " + access.unit() + " -n 100");
            }
        });
    }

    /** The result for that answer of the process of {@code unit}. */
    static CheckResult judge(int port, String unit, LocalPage page, Duration took) {
        if (page.status() == 200) {
            return CheckResult.ok(NAME, "healthz at 127.0.0.1:" + port + " answers ok in " + took.toMillis() + "ms");
        }
        List<String> failed = page.text()
                .lines()
                .filter(line -> line.startsWith("[-]"))
                .map(line -> line.substring(3))
                .toList();
        String which = failed.isEmpty()
                ? ""
                : ": " + failed.stream().limit(SHOWN).collect(Collectors.joining(", "))
                        + (failed.size() > SHOWN ? " and " + (failed.size() - SHOWN) + " more" : "");
        return CheckResult.failed(
                NAME,
                "healthz at 127.0.0.1:" + port + " answers " + page.status() + which + "; expected 200",
                "journalctl -u " + unit + " -n 100");
    }

    /** The result if nothing listens. */
    static CheckResult absent(int port, NodeAccess access) {
        String text = "neither a kubelet nor an agent listens at 127.0.0.1:" + port;
        return access.isNode()
                ? CheckResult.failed(
                        NAME,
                        text + ", although this machine has a node's credentials",
                        "systemctl status " + access.unit())
                : CheckResult.unknown(NAME, text);
    }
}
