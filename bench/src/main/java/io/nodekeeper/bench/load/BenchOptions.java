package io.nodekeeper.bench.load;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The options of the command line. */
record BenchOptions(
        List<String> command,
        List<String> stores,
        String etcdServers,
        List<String> extraFlags,
        int nodes,
        int connections,
        boolean http2,
        int watchers,
        int warmupSeconds,
        int seconds,
        List<Double> rates,
        int openSeconds,
        int idleWatches,
        boolean json,
        int progressSeconds) {

    static final String USAGE = """
            Usage: scripts/bench-apiserver [OPTION VALUE]...
              --stores LIST        memory,rocksdb,etcd; default memory,rocksdb, and etcd if --etcd-servers is given
              --etcd-servers URLS  where etcd is
              --nodes N            nodes with a lease each; default 10000
              --connections N      keep-alive connections that renew; default 128
              --http2 true         renew over HTTP/2; watches stay on HTTP/1.1
              --watchers N         watches of all leases, each verified; default 1
              --warmup SECONDS     default 20
              --seconds SECONDS    of the closed loop; 0 for none; default 30
              --rates LIST         renewals/s of the open loops; default 15000
              --open-seconds S     of each open loop; default 60
              --idle-watches N     watches of one node each; default 10000
              --flags LIST         more flags for the server, separated by spaces
              --command COMMAND    the server's command; default ./nodekeeper
              -o json              one JSON array instead of the table
            """;

    private static final Set<String> KNOWN = Set.of(
            "--stores",
            "--etcd-servers",
            "--nodes",
            "--connections",
            "--http2",
            "--watchers",
            "--warmup",
            "--seconds",
            "--rates",
            "--open-seconds",
            "--idle-watches",
            "--flags",
            "--command",
            "-o");

    /**
     * Reads the arguments.
     *
     * @throws IllegalArgumentException with the error
     */
    static BenchOptions of(String[] arguments) {
        Map<String, String> given = given(arguments, KNOWN);
        String etcd = given.getOrDefault("--etcd-servers", "");
        return new BenchOptions(
                words(given.getOrDefault("--command", "./nodekeeper"), " "),
                words(given.getOrDefault("--stores", etcd.isEmpty() ? "memory,rocksdb" : "memory,rocksdb,etcd"), ","),
                etcd,
                words(given.getOrDefault("--flags", ""), " "),
                number(given, "--nodes", 10_000),
                number(given, "--connections", 128),
                flag(given, "--http2"),
                number(given, "--watchers", 1),
                number(given, "--warmup", 20),
                number(given, "--seconds", 30),
                words(given.getOrDefault("--rates", "15000"), ",").stream()
                        .map(Double::valueOf)
                        .toList(),
                number(given, "--open-seconds", 60),
                number(given, "--idle-watches", 10_000),
                given.getOrDefault("-o", "").equals("json"),
                5);
    }

    /**
     * The values of the options by their names.
     *
     * @throws IllegalArgumentException for an option that is not {@code known}, or without a value
     */
    static Map<String, String> given(String[] arguments, Set<String> known) {
        Map<String, String> given = new HashMap<>();
        for (int i = 0; i < arguments.length; i += 2) {
            if (!known.contains(arguments[i]) || i + 1 == arguments.length) {
                throw new IllegalArgumentException("unknown option, or one without its value: " + arguments[i]);
            }
            given.put(arguments[i], arguments[i + 1]);
        }
        return given;
    }

    /** The server's flags for {@code store}. */
    List<String> serverFlags(String store) {
        List<String> flags = new ArrayList<>(List.of("--store", store));
        if (store.equals("etcd")) {
            flags.addAll(List.of("--etcd-servers", etcdServers));
        }
        flags.addAll(extraFlags);
        return flags;
    }

    private static boolean flag(Map<String, String> given, String name) {
        String text = given.getOrDefault(name, "false");
        if (!text.equals("true") && !text.equals("false")) {
            throw new IllegalArgumentException(name + " " + text + ": expected true or false");
        }
        return text.equals("true");
    }

    static int number(Map<String, String> given, String name, int otherwise) {
        return Integer.parseInt(given.getOrDefault(name, Integer.toString(otherwise)));
    }

    private static List<String> words(String text, String separator) {
        return Arrays.stream(text.split(separator))
                .filter(word -> !word.isBlank())
                .toList();
    }
}
