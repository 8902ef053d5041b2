package io.nodekeeper.bench.load;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * {@code scripts/bench-apiserver}: measures renewals per second, their latency, the watch's lag, and memory, for each
 * store.
 */
public final class ApiServerBench {
    private ApiServerBench() {}

    /** Runs the measurement; progress goes to standard error, the table to standard output. */
    public static void main(String[] arguments) throws Exception {
        BenchOptions options;
        try {
            options = BenchOptions.of(arguments);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage() + "\n" + BenchOptions.USAGE);
            System.exit(2);
            return;
        }
        PrintStream progress = System.err;
        progress.println("generator: " + ServerConnections.kind() + ", "
                + Runtime.getRuntime().availableProcessors() + " processors");
        List<JsonObject> rows = new ArrayList<>();
        for (String store : options.stores()) {
            Path directory = Files.createTempDirectory("nodekeeper-bench");
            try {
                rows.addAll(Trial.run(options, store, directory, progress));
            } finally {
                delete(directory);
            }
        }
        System.out.println(options.json() ? new JsonArray(List.copyOf(rows)).toString() : ResultTable.of(rows));
    }

    private static void delete(Path directory) throws IOException {
        try (var files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
