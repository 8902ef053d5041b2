package io.nodekeeper.bench.load;

import java.util.Locale;

/**
 * What a number of nodes costs. Immutable.
 *
 * @param nodes how many nodes renew their leases, each every 10 s
 * @param renewals how many renewals a second were answered
 * @param server the API server's cost
 * @param controller the controller's cost
 * @param referenceMillis {@link ReferenceLoop#millis} before the load
 */
record GrowthRow(int nodes, double renewals, Cost server, Cost controller, double referenceMillis) {
    static final String HEAD = """
            | nodes | renewals/s | API server | a renewal | resident: empty; now | a node \
            | controller | a renewal | resident: empty; now | a node | reference loop |
            |---|---|---|---|---|---|---|---|---|---|---|""";

    /**
     * The cost of one process.
     *
     * @param core share of one core, 1 for all of it
     * @param emptyBytes resident memory before the first node
     * @param bytes resident memory at the end
     */
    record Cost(double core, long emptyBytes, long bytes) {
        private String of(int nodes, double renewals) {
            return String.format(
                    Locale.ROOT,
                    "%.1f %% | %.0f µs | %d; %d MB | %.1f KB",
                    core * 100,
                    core * 1e6 / renewals,
                    emptyBytes >> 20,
                    bytes >> 20,
                    (bytes - emptyBytes) / 1024.0 / nodes);
        }
    }

    /** A line of a table in Markdown. */
    String line() {
        return String.format(
                Locale.ROOT,
                "| %,d | %.0f | %s | %s | %.0f ms |",
                nodes,
                renewals,
                server.of(nodes, renewals),
                controller.of(nodes, renewals),
                referenceMillis);
    }
}
