package io.nodekeeper.simulator;

import io.nodekeeper.simulator.cluster.ClusterSetup;
import io.nodekeeper.simulator.cluster.SimCluster;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A script of faults: lines of prose after {@code #}, commands, {@code ----}, and the trace that they produce up to an
 * empty line; then more commands. The first command is {@code cluster nodes=N seed=S}; the others are {@code run 30s},
 * {@code show}, and faults of processes: {@code crash}, {@code restart}, {@code freeze}, {@code thaw}, {@code cut},
 * {@code silence}, {@code heal} with names, {@code delay} and {@code skew} with names and a duration, {@code
 * stall-watch} and {@code resume-watch} with a name and a resource, {@code stall-disk} and {@code resume-disk} of the
 * API server. {@code n3..n7} are five nodes.
 */
public final class Scenario {
    private static final String CLUSTER = "cluster nodes=N seed=S";
    private static final int MOST_NODES = 10_000;
    private static final Duration LONGEST_RUN = Duration.ofDays(366);
    /** Between two questions whether to end. */
    private static final Duration STEP = Duration.ofSeconds(1);

    private final BooleanSupplier ended;
    private final List<String> traced = new ArrayList<>();
    private Optional<SimCluster> cluster = Optional.empty();
    private boolean partial;
    private boolean broken;

    private Scenario(BooleanSupplier ended) {
        this.ended = ended;
    }

    /**
     * What a script produced.
     *
     * @param text the script with the trace that it actually produced, up to where it was asked to end
     * @param partial whether it was asked to end before
     * @param isGood whether no rule was broken, and each trace is the one in the script
     */
    public record Result(String text, boolean partial, boolean isGood) {}

    /**
     * Runs a script. Commands without {@code ----} at the end get a trace, too.
     *
     * @param ended whether to end now; asked each second of virtual time
     * @throws IllegalArgumentException if it cannot be run; names the line and what was expected
     */
    public static Result run(String script, BooleanSupplier ended) {
        Scenario scenario = new Scenario(ended);
        StringBuilder out = new StringBuilder();
        boolean expected = false;
        boolean open = false;
        int number = 0;
        for (String line : script.lines().toList()) {
            number++;
            if (expected) {
                expected = !line.isBlank();
                if (!expected) {
                    out.append('\n');
                }
                continue;
            }
            out.append(line).append('\n');
            if (line.equals("----")) {
                scenario.write(out);
                expected = true;
                open = false;
            } else if (!line.isBlank() && !line.startsWith("#")) {
                try {
                    scenario.command(line.strip().split("\\s+"));
                } catch (IllegalArgumentException | IllegalStateException e) {
                    throw new IllegalArgumentException("line " + number + ": " + e.getMessage(), e);
                }
                open = true;
                if (scenario.partial) {
                    break;
                }
            }
        }
        String given = String.join("\n", script.lines().toList());
        boolean same = out.toString().stripTrailing().equals(given.stripTrailing());
        if (open) {
            out.append("----\n");
            scenario.write(out);
        }
        return new Result(out.toString(), scenario.partial, same && !scenario.broken);
    }

    private void trace(String line) {
        traced.add(line);
        broken |= line.contains(" VIOLATION ");
    }

    private void write(StringBuilder out) {
        traced.forEach(line -> out.append(line).append('\n'));
        traced.clear();
    }

    private void command(String[] words) {
        switch (words[0]) {
            case "cluster" -> {
                long nodes = setting(words, "nodes");
                if (nodes < 1 || nodes > MOST_NODES) {
                    throw new IllegalArgumentException("nodes is " + nodes + "; expected 1 to " + MOST_NODES);
                }
                cluster =
                        Optional.of(new SimCluster(ClusterSetup.of((int) nodes, setting(words, "seed")), this::trace));
            }
            case "run" -> run(GoDuration.parse(word(words, 1, "run 30s")));
            case "show" -> it().show();
            case "crash" -> each(words, it()::crash);
            case "restart" -> each(words, it()::restart);
            case "freeze" -> each(words, it()::freeze);
            case "thaw" -> each(words, it()::thaw);
            case "cut" -> each(words, it()::cut);
            case "silence" -> each(words, it()::silence);
            case "heal" -> each(words, it()::heal);
            case "delay" -> eachBy(words, this::delay);
            case "skew" -> eachBy(words, it()::skew);
            case "stall-watch" -> it().stallWatch(process(words), resource(words));
            case "resume-watch" -> it().resumeWatch(process(words), resource(words));
            case "stall-disk" -> it().stallDisk();
            case "resume-disk" -> it().resumeDisk();
            default ->
                throw new IllegalArgumentException("unknown command \"" + words[0]
                        + "\"; expected cluster, run, show, crash, restart, freeze, thaw, cut, silence, heal, delay,"
                        + " skew, stall-watch, resume-watch, stall-disk or resume-disk");
        }
    }

    private void delay(String name, Duration by) {
        if (by.isNegative()) {
            throw new IllegalArgumentException("delay is " + GoDuration.format(by) + "; expected 0s or more");
        }
        it().delay(name, by);
    }

    private void run(Duration duration) {
        if (duration.isNegative() || duration.compareTo(LONGEST_RUN) > 0) {
            throw new IllegalArgumentException(
                    "run is " + GoDuration.format(duration) + "; expected 0s to " + GoDuration.format(LONGEST_RUN));
        }
        for (Duration left = duration; left.isPositive() && !partial; left = left.minus(STEP)) {
            it().run(left.compareTo(STEP) < 0 ? left : STEP);
            partial = ended.getAsBoolean();
        }
    }

    private SimCluster it() {
        return cluster.orElseThrow(() -> new IllegalArgumentException("expected " + CLUSTER + " as the first command"));
    }

    private static long setting(String[] words, String name) {
        for (String word : words) {
            if (word.matches(name + "=[0-9]{1,18}")) {
                return Long.parseLong(word.substring(name.length() + 1));
            }
        }
        throw new IllegalArgumentException(
                "\"" + String.join(" ", words) + "\" has no " + name + "; expected " + CLUSTER);
    }

    private static String word(String[] words, int index, String expected) {
        if (words.length <= index) {
            throw new IllegalArgumentException(
                    "\"" + String.join(" ", words) + "\" is too short; expected " + expected);
        }
        return words[index];
    }

    private static String process(String[] words) {
        return word(words, 1, words[0] + " controller leases");
    }

    private static String resource(String[] words) {
        return word(words, 2, words[0] + " controller leases");
    }

    private static void each(String[] words, Consumer<String> action) {
        word(words, 1, words[0] + " n3..n7");
        for (int i = 1; i < words.length; i++) {
            names(words[i]).forEach(action);
        }
    }

    private static void eachBy(String[] words, BiConsumer<String, Duration> action) {
        word(words, 2, words[0] + " n3..n7 2s");
        Duration by = GoDuration.parse(words[words.length - 1]);
        for (int i = 1; i < words.length - 1; i++) {
            names(words[i]).forEach(name -> action.accept(name, by));
        }
    }

    private static List<String> names(String word) {
        if (!word.matches("n[0-9]{1,6}\\.\\.n[0-9]{1,6}")) {
            return List.of(word);
        }
        int dots = word.indexOf("..");
        List<String> names = new ArrayList<>();
        int first = Integer.parseInt(word.substring(1, dots));
        int last = Integer.parseInt(word.substring(dots + 3));
        if (first > last) {
            throw new IllegalArgumentException("\"" + word + "\" has no node; expected a form like n3..n7");
        }
        for (int number = first; number <= last; number++) {
            names.add("n" + number);
        }
        return names;
    }
}
