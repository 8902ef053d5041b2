package io.nodekeeper.simulator;

import io.nodekeeper.simulator.cluster.ClusterSetup;
import io.nodekeeper.simulator.cluster.SimCluster;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * A script of faults: lines of prose after {@code #}, commands, {@code ----}, and the trace that they produce up to an
 * empty line; then more commands. The first command is {@code cluster nodes=N seed=S}; the others are {@code run 30s},
 * {@code show}, and faults of processes: {@code crash}, {@code restart}, {@code freeze}, {@code thaw}, {@code cut},
 * {@code silence}, {@code heal} with names, {@code delay} and {@code skew} with names and a duration, {@code
 * stall-watch} and {@code resume-watch} with a name and a resource, {@code stall-disk} and {@code resume-disk} of the
 * API server. {@code n3..n7} are five nodes.
 */
final class Scenario {
    private final List<String> traced = new ArrayList<>();
    private Optional<SimCluster> cluster = Optional.empty();

    /** Runs a script and returns it with the trace that it actually produced. */
    static String run(String script) {
        Scenario scenario = new Scenario();
        StringBuilder out = new StringBuilder();
        boolean expected = false;
        for (String line : script.lines().toList()) {
            if (expected) {
                expected = !line.isBlank();
                if (!expected) {
                    out.append('\n');
                }
                continue;
            }
            out.append(line).append('\n');
            if (line.equals("----")) {
                scenario.traced.forEach(traced -> out.append(traced).append('\n'));
                scenario.traced.clear();
                expected = true;
            } else if (!line.isBlank() && !line.startsWith("#")) {
                scenario.command(line.strip().split("\\s+"));
            }
        }
        if (!scenario.traced.isEmpty()) {
            throw new IllegalArgumentException("the script ends with commands; expected ---- after them");
        }
        return out.toString();
    }

    private void command(String[] words) {
        switch (words[0]) {
            case "cluster" ->
                cluster = Optional.of(new SimCluster(
                        ClusterSetup.of((int) setting(words, "nodes"), setting(words, "seed")), traced::add));
            case "run" -> it().run(GoDuration.parse(words[1]));
            case "show" -> it().show();
            case "crash" -> each(words, it()::crash);
            case "restart" -> each(words, it()::restart);
            case "freeze" -> each(words, it()::freeze);
            case "thaw" -> each(words, it()::thaw);
            case "cut" -> each(words, it()::cut);
            case "silence" -> each(words, it()::silence);
            case "heal" -> each(words, it()::heal);
            case "delay" -> eachBy(words, it()::delay);
            case "skew" -> eachBy(words, it()::skew);
            case "stall-watch" -> it().stallWatch(words[1], words[2]);
            case "resume-watch" -> it().resumeWatch(words[1], words[2]);
            case "stall-disk" -> it().stallDisk();
            case "resume-disk" -> it().resumeDisk();
            default -> throw new IllegalArgumentException("unknown command " + String.join(" ", words));
        }
    }

    private SimCluster it() {
        return cluster.orElseThrow(
                () -> new IllegalArgumentException("expected cluster nodes=N seed=S as the first command"));
    }

    private static long setting(String[] words, String name) {
        for (String word : words) {
            if (word.startsWith(name + "=")) {
                return Long.parseLong(word.substring(name.length() + 1));
            }
        }
        throw new IllegalArgumentException(String.join(" ", words) + " does not say " + name + "=");
    }

    private static void each(String[] words, java.util.function.Consumer<String> action) {
        for (int i = 1; i < words.length; i++) {
            names(words[i]).forEach(action);
        }
    }

    private static void eachBy(String[] words, BiConsumer<String, Duration> action) {
        Duration by = GoDuration.parse(words[words.length - 1]);
        for (int i = 1; i < words.length - 1; i++) {
            names(words[i]).forEach(name -> action.accept(name, by));
        }
    }

    private static List<String> names(String word) {
        int dots = word.indexOf("..");
        if (dots < 0) {
            return List.of(word);
        }
        List<String> names = new ArrayList<>();
        int last = Integer.parseInt(word.substring(dots + 3));
        for (int number = Integer.parseInt(word.substring(1, dots)); number <= last; number++) {
            names.add("n" + number);
        }
        return names;
    }
}
