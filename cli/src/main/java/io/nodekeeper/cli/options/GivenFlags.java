package io.nodekeeper.cli.options;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** The flags on the command line, without those that only have their default. */
public final class GivenFlags {
    private GivenFlags() {}

    /** The longest name of each flag of {@code command} that was given, each once; empty if nothing was parsed yet. */
    public static List<String> of(CommandSpec command) {
        return matched(command).map(OptionSpec::longestName).distinct().toList();
    }

    /** The flags of {@code command} that were given and that {@code part} has, too, as {@code --flag=value}. */
    public static List<String> values(CommandSpec command, CommandSpec part) {
        return matched(command)
                .filter(option -> part.optionsMap().containsKey(option.longestName()))
                .flatMap(option ->
                        option.originalStringValues().stream().map(value -> option.longestName() + "=" + value))
                .toList();
    }

    private static Stream<OptionSpec> matched(CommandSpec command) {
        return Optional.ofNullable(command.commandLine())
                .map(line -> line.getParseResult())
                .map(ParseResult::matchedOptions)
                .map(List::stream)
                .orElseGet(Stream::empty);
    }
}
