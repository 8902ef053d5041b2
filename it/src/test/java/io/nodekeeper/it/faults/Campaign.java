package io.nodekeeper.it.faults;

import io.nodekeeper.it.ConditionLog;
import io.nodekeeper.it.Running;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs generated faults on several nodes side by side at one API server, and collects the results. Thread-safe. */
final class Campaign {
    /** Nodes that start at once leave each other no processor. */
    private final Semaphore starting = new Semaphore(1);

    private final Path directory;
    private final int sideBySide;
    private final List<GeneratedFault> waiting;
    private final int count;
    private final boolean restarts;
    private final List<FaultResult> results = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();
    /** The numbers of those that failed once. */
    private final Set<Integer> repeated = new TreeSet<>();

    private final long begin = System.nanoTime();
    private final Duration limit;
    private volatile boolean stopped;

    /**
     * With {@code restarts} the agent is started again in some of them, which takes a minute each. No fault begins after
     * {@code limit}.
     */
    Campaign(Path directory, List<GeneratedFault> faults, int sideBySide, boolean restarts, Duration limit) {
        this.restarts = restarts;
        this.limit = limit;
        this.directory = directory;
        this.sideBySide = Math.min(sideBySide, faults.size());
        this.count = faults.size();
        waiting = new ArrayList<>(faults);
    }

    /** All results so far, by number. */
    synchronized List<FaultResult> results() {
        return results.stream()
                .sorted(Comparator.comparing(result -> result.fault().number()))
                .toList();
    }

    /** The numbers of faults that got a second attempt, because they could not be run or the node did not become clean. */
    synchronized List<Integer> repeated() {
        return List.copyOf(repeated);
    }

    /** Faults that could not be run, or after which the node did not become clean, in two attempts. */
    synchronized List<String> failures() {
        return List.copyOf(failures);
    }

    /**
     * Runs all of them, and passes to {@code report} whether the run was ended before, as by Ctrl-C. With {@code measured} a
     * script waits for this process.
     */
    void run(boolean measured, Consumer<Boolean> report) throws Exception {
        if (measured) {
            // After Ctrl-C this process ends later than Maven.
            Files.writeString(
                    Path.of("target", "generated-faults.pid"),
                    ProcessHandle.current().pid() + "\n");
        }
        Thread partial = new Thread(
                () -> {
                    stopped = true;
                    report.accept(true);
                },
                "partial table");
        Runtime.getRuntime().addShutdownHook(partial);
        run();
        Runtime.getRuntime().removeShutdownHook(partial);
        report.accept(false);
    }

    private void run() throws Exception {
        Path data = directory.resolve("data");
        try (Running server = Running.startSmall(
                directory, "apiserver", List.of("apiserver", "--data-dir", data.toString(), "--secure-port", "0"))) {
            server.awaitReady();
            Path kubeconfig = data.resolve("admin.kubeconfig");
            try (ConditionLog conditions = new ConditionLog(kubeconfig);
                    ExecutorService pool = Executors.newFixedThreadPool(sideBySide)) {
                for (int worker = 0; worker < sideBySide; worker++) {
                    int number = worker;
                    pool.execute(() -> work(number, kubeconfig, conditions));
                }
                pool.shutdown();
                if (!pool.awaitTermination(3, TimeUnit.HOURS)) {
                    throw new AssertionError("the faults did not end within 3 hours");
                }
            }
        }
    }

    private synchronized @Nullable GeneratedFault next(boolean probes) {
        if (stopped || System.nanoTime() - begin >= limit.toNanos()) {
            return null;
        }
        Iterator<GeneratedFault> faults = waiting.iterator();
        while (faults.hasNext()) {
            GeneratedFault fault = faults.next();
            if (fault.needsProbes() == probes) {
                faults.remove();
                return fault;
            }
        }
        return null;
    }

    private void work(int worker, Path kubeconfig, ConditionLog conditions) {
        int nodes = 0;
        // Some faults need another kind of agent: the first worker begins with them, so that few nodes change it.
        for (boolean probes : worker == 0 ? new boolean[] {true, false} : new boolean[] {false, true}) {
            @Nullable Host host = null;
            for (GeneratedFault fault = next(probes); fault != null; fault = next(probes)) {
                try {
                    if (host == null) {
                        host = host("faults-" + worker + "-" + nodes++, kubeconfig, conditions, probes);
                    }
                    long from = seconds();
                    FaultResult result = host.run(fault);
                    add(result, seconds() - from);
                } catch (Exception | Error e) {
                    failed(fault, e);
                    close(host);
                    host = null;
                }
            }
            close(host);
        }
    }

    private Host host(String name, Path kubeconfig, ConditionLog conditions, boolean probes) throws Exception {
        starting.acquire();
        try {
            return new Host(directory.resolve(name), name, kubeconfig, conditions, probes, restarts);
        } finally {
            starting.release();
        }
    }

    private void close(@Nullable Host host) {
        if (host != null) {
            try {
                host.close();
            } catch (Exception | Error e) {
                System.out.println("faults: a node did not end cleanly: " + e);
            }
        }
    }

    private synchronized void add(FaultResult result, long seconds) {
        results.add(result);
        System.out.printf(Locale.ROOT, "faults: %s: %s", progress(), result.row());
        result.restart().ifPresent(story -> System.out.print("faults:" + text(story)));
        keep(result.details()
                + "  in all: " + seconds + " s\n"
                + result.restart().map(Campaign::text).orElse(""));
    }

    private static String text(RestartStory story) {
        return "  restart: " + story.shown() + ": " + story.text() + "\n";
    }

    /** On a busy machine a fault may take longer to set up or to clean up than it may: it gets a second attempt, on another node. */
    private synchronized void failed(GeneratedFault fault, Throwable error) {
        String text = fault.number() + ". " + fault.text() + ": " + error;
        String what = "FAILED, ";
        if (repeated.add(fault.number())) {
            waiting.add(fault);
            what += "is tried again: ";
        } else {
            failures.add(text);
            what += "twice: ";
        }
        System.out.printf(Locale.ROOT, "faults: %s: %s%s%n", progress(), what, text);
        StringBuilder trace = new StringBuilder(what + text + "\n");
        for (StackTraceElement frame : error.getStackTrace()) {
            if (frame.getClassName().startsWith("io.nodekeeper")) {
                trace.append("    ").append(frame).append('\n');
            }
        }
        keep(trace.toString());
    }

    private synchronized String progress() {
        int ended = results.size() + failures.size();
        long left = Math.min(seconds() * (count - ended) / Math.max(1, ended), limit.toSeconds() - seconds());
        return String.format(
                Locale.ROOT,
                "%d of %d (%s) after %d min, about %d min left",
                ended,
                count,
                Score.of(results).line(),
                seconds() / 60,
                Math.max(0, left + 30) / 60);
    }

    private void keep(String text) {
        try {
            Path kept =
                    Files.createDirectories(Path.of("target").toAbsolutePath()).resolve("generated-faults.log");
            Files.writeString(kept, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            System.out.println("faults: " + e);
        }
    }

    private long seconds() {
        return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin);
    }
}
