package io.nodekeeper.bench.load;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

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
        List<JsonObject> rows = new CopyOnWriteArrayList<>();
        Thread partial = new Thread(() -> {
            progress.println("PARTIAL: it ended early; the table has only the loads that had ended");
            print(options, rows);
        });
        Runtime.getRuntime().addShutdownHook(partial);
        int number = 0;
        for (String store : options.stores()) {
            progress.println("store " + ++number + " of " + options.stores().size() + ": " + store);
            Path directory = Files.createTempDirectory("nodekeeper-bench");
            try {
                Trial.run(options, store, directory, progress, rows);
            } finally {
                delete(directory);
            }
        }
        Runtime.getRuntime().removeShutdownHook(partial);
        print(options, rows);
    }

    private static void print(BenchOptions options, List<JsonObject> rows) {
        System.out.println(options.json() ? new JsonArray(List.copyOf(rows)).toString() : ResultTable.of(rows));
    }

    static void delete(Path directory) throws IOException {
        try (var files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
