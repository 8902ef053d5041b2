package io.nodekeeper.cli.tune;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.GivenFlags;
import io.nodekeeper.cli.simulate.ConfigurationOptions;
import io.nodekeeper.simulator.tune.Candidate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/**
 * Reads {@code --vary FLAG=VALUE,VALUE}: each combination of one value of each varied flag is a candidate. What is not
 * varied is as the command line says for all of them.
 */
final class Candidates {
    /** The most combinations: as many rows fit two screens. */
    private static final int MOST = 100;

    private Candidates() {}

    /**
     * The candidates, in the order of the values; the last flag changes first.
     *
     * @param varied what was given with {@code --vary}
     * @param command the command line that was read, for the flags that are the same in all
     * @param faults receives what is wrong; the result then is not complete
     */
    static List<Candidate> of(List<String> varied, CommandSpec command, Faults faults) {
        CommandSpec known = CommandSpec.forAnnotatedObject(new ConfigurationOptions());
        Map<String, List<String>> values = new LinkedHashMap<>();
        for (String text : varied) {
            read(text, known, values, faults);
        }
        List<String> given = GivenFlags.values(command, known);
        List<String> fixed = given.stream()
                .filter(flag -> !values.containsKey(flag.substring(0, flag.indexOf('='))))
                .toList();
        for (String flag : values.keySet()) {
            faults.require(
                    given.stream().noneMatch(value -> value.startsWith(flag + "=")),
                    flag + " has a value and is varied with --vary; expected one of them");
        }
        double number = values.values().stream().mapToDouble(List::size).reduce(1, (some, more) -> some * more);
        if (number > MOST) {
            faults.require(
                    false,
                    String.format(Locale.ROOT, "--vary gives %.0f combinations; expected at most %d", number, MOST));
            return List.of();
        }
        List<Candidate> candidates = new ArrayList<>();
        combinations(values).forEach(combination -> candidate(fixed, combination, candidates, faults));
        return candidates;
    }

    private static void read(String text, CommandSpec known, Map<String, List<String>> values, Faults faults) {
        int equals = text.indexOf('=');
        String name = equals < 0 ? text : text.substring(0, equals);
        String flag = name.startsWith("--") ? name : "--" + name;
        List<String> some =
                equals < 0 ? List.of() : List.of(text.substring(equals + 1).split(",", -1));
        if (some.isEmpty() || some.stream().anyMatch(String::isBlank)) {
            faults.require(false, "--vary is \"" + text + "\"; expected FLAG=VALUE,VALUE");
        } else if (!known.optionsMap().containsKey(flag)) {
            faults.require(
                    false,
                    "--vary is about " + flag + "; expected one of "
                            + String.join(", ", new TreeSet<>(known.optionsMap().keySet())));
        } else {
            faults.require(values.putIfAbsent(flag, some) == null, "--vary is given twice for " + flag);
        }
    }

    private static List<List<String>> combinations(Map<String, List<String>> values) {
        List<List<String>> combinations = List.of(List.of());
        for (Map.Entry<String, List<String>> flag : values.entrySet()) {
            combinations = combinations.stream()
                    .flatMap(before -> flag.getValue().stream().map(value -> {
                        List<String> longer = new ArrayList<>(before);
                        longer.add(flag.getKey() + "=" + value);
                        return longer;
                    }))
                    .collect(Collectors.toList());
        }
        return combinations;
    }

    private static void candidate(
            List<String> fixed, List<String> combination, List<Candidate> candidates, Faults faults) {
        ConfigurationOptions options = new ConfigurationOptions();
        List<String> arguments = new ArrayList<>(fixed);
        arguments.addAll(combination);
        Faults own = new Faults();
        try {
            new CommandLine(options).parseArgs(arguments.toArray(String[]::new));
        } catch (ParameterException e) {
            own.require(false, Failures.text(e));
            faults.from("--vary", own);
            return;
        }
        options.check(own);
        faults.from("--vary", own);
        candidates.add(
                new Candidate(String.join(" ", combination), options.controller(), options.leaseDurationSeconds()));
    }
}
