package io.nodekeeper.cli.completion;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Writes the completions of fish, which picocli does not write, from the model of the commands. */
final class Fish {
    private Fish() {}

    /** The script for {@code root} and its commands, down to their subcommands. */
    static String script(CommandSpec root) {
        StringBuilder script = new StringBuilder("# Completions of " + root.name() + " for fish.\n");
        script.append("complete -c ").append(root.name()).append(" -f\n");
        options(script, root, "__fish_use_subcommand");
        for (Map.Entry<String, CommandLine> command : root.subcommands().entrySet()) {
            CommandSpec spec = command.getValue().getCommandSpec();
            subcommand(script, root.name(), "__fish_use_subcommand", command.getKey(), spec);
            String seen = "__fish_seen_subcommand_from " + command.getKey();
            options(script, spec, seen);
            for (Map.Entry<String, CommandLine> part : spec.subcommands().entrySet()) {
                CommandSpec below = part.getValue().getCommandSpec();
                String names = String.join(" ", spec.subcommands().keySet());
                subcommand(
                        script,
                        root.name(),
                        seen + "; and not __fish_seen_subcommand_from " + names,
                        part.getKey(),
                        below);
                options(script, below, seen + "; and __fish_seen_subcommand_from " + part.getKey());
            }
        }
        return script.toString();
    }

    private static void subcommand(StringBuilder script, String program, String when, String name, CommandSpec spec) {
        script.append("complete -c ")
                .append(program)
                .append(" -n ")
                .append(quoted(when))
                .append(" -a ")
                .append(quoted(name))
                .append(" -d ")
                .append(quoted(description(spec.usageMessage().description())))
                .append('\n');
    }

    private static void options(StringBuilder script, CommandSpec spec, String when) {
        String start = "complete -c " + spec.root().name() + " -n " + quoted(when);
        for (OptionSpec option : spec.options()) {
            if (option.hidden()) {
                continue;
            }
            script.append(start);
            for (String name : option.names()) {
                script.append(
                        name.startsWith("--")
                                ? " -l " + quoted(name.substring(2))
                                : " -s " + quoted(name.substring(1)));
            }
            if (option.arity().max() > 0) {
                script.append(values(option));
            }
            script.append(" -d ")
                    .append(quoted(description(option.description())))
                    .append('\n');
        }
        for (PositionalParamSpec operand : spec.positionalParameters()) {
            if (operand.completionCandidates() != null || isFile(operand)) {
                script.append(start)
                        .append(values(operand).replaceFirst(" -x| -r", ""))
                        .append('\n');
            }
        }
    }

    /** What fish offers as values: words, files, or nothing. */
    private static String values(ArgSpec argument) {
        if (argument.completionCandidates() != null) {
            String words = StreamSupport.stream(argument.completionCandidates().spliterator(), false)
                    .map(Fish::word)
                    .collect(Collectors.joining(" "));
            return " -x -a " + quoted(words);
        }
        return isFile(argument) ? " -r -F" : " -x";
    }

    /** A value without the explanation in parentheses that the help has. */
    private static String word(String candidate) {
        int end = candidate.indexOf(' ');
        return end < 0 ? candidate : candidate.substring(0, end);
    }

    private static boolean isFile(ArgSpec argument) {
        return argument.type() == Path.class
                || Arrays.asList(argument.auxiliaryTypes()).contains(Path.class);
    }

    /** The first sentence. */
    private static String description(String[] lines) {
        String text =
                String.join(" ", lines).replace("${COMPLETION-CANDIDATES}", "").replaceAll("\\s+", " ");
        int end = text.indexOf(". ");
        return end < 0 ? text : text.substring(0, end + 1);
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
