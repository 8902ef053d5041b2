package io.nodekeeper.cli.command;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cli.files.FileErrors;
import io.nodekeeper.cli.output.CheckedWriter;
import io.nodekeeper.cli.output.Logging;
import io.nodekeeper.cli.output.Printable;
import io.nodekeeper.client.Version;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Reads a command line, reports all its faults together, and runs the command. Exit codes: 0 success, 1 the command
 * failed or its output could not be written, 2 the command line is wrong, 141 the reader closed the command's output.
 * The help of a command lists further codes. A process that stops cleanly after a signal exits with 128 plus the
 * signal's number: 130 after SIGINT, 143 after SIGTERM; a command that has a partial report prints it first.
 */
public final class CommandRunner {
    public static final int OK = 0;
    public static final int FAILED = 1;
    static final int USAGE = 2;
    /** The exit code after SIGINT, 128 plus its number; of commands that were asked to end early. */
    public static final int INTERRUPTED = 130;
    /** The exit code that a shell shows for a process that SIGPIPE ended, as for other commands. */
    static final int CLOSED_PIPE = 141;

    /** The most faults in one message: a screen, and more than any command has options with a check. */
    private static final int MOST_FAULTS = 40;
    /** The most characters of one message: our longest message with a path of usual length fits. */
    private static final int LONGEST_MESSAGE = 2_000;

    private final CommandLine root;

    /** The command {@code nodekeeper}, which has all other commands. */
    @Command(
            name = "nodekeeper",
            synopsisSubcommandLabel = "COMMAND",
            description = "A node-health system for Kubernetes: API server, controller and agent.",
            exitCodeListHeading = "%nExit codes:%n",
            exitCodeList = {
                "0:Success.",
                "1:The command failed, or its output could not be written.",
                "2:The command line is wrong.",
                "130:The command stopped cleanly after SIGINT (Ctrl-C); its report is partial and says so.",
                "141:The reader closed standard output.",
                "143:The command stopped cleanly after SIGTERM."
            },
            footerHeading = "%nExamples:%n",
            footer = {
                "  nodekeeper up",
                "      A whole cluster in one process; kubectl works with nodekeeper-data/admin.kubeconfig.",
                "  nodekeeper COMMAND --help",
                "      The flags of a command."
            })
    static final class Root {
        @Option(
                names = {"-h", "--help"},
                usageHelp = true,
                description = "Shows this.")
        boolean help;

        @Option(
                names = {"-V", "--version"},
                versionHelp = true,
                description = "Shows the version.")
        boolean version;
    }

    /** A runner of {@code commands} that writes to {@code out} and {@code err}. */
    public CommandRunner(List<NodekeeperCommand> commands, PrintWriter out, PrintWriter err) {
        root = new CommandLine(new Root());
        for (NodekeeperCommand command : commands) {
            CommandLine line = new CommandLine(command);
            command.parts().forEach(line::addSubcommand);
            root.addSubcommand(line);
        }
        root.getCommandSpec().version("nodekeeper " + Version.current());
        root.setOut(out);
        root.setErr(err);
        root.setUsageHelpWidth(110);
        root.setUsageHelpAutoWidth(false);
        // picocli would replace an argument @FILE with the content of the file, whose size has no limit.
        root.setExpandAtFiles(false);
        collectErrors(root);
    }

    private static void collectErrors(CommandLine line) {
        line.getCommandSpec().parser().collectErrors(true);
        line.getSubcommands().values().forEach(CommandRunner::collectErrors);
    }

    /** Runs the command line {@code arguments} and returns the exit code. */
    public int run(String... arguments) {
        int code = execute(arguments);
        // Every command writes to this writer. A command whose output was lost did not succeed.
        Optional<IOException> failure = root.getOut() instanceof CheckedWriter out ? out.failure() : Optional.empty();
        if (failure.isEmpty()) {
            return code;
        }
        if (CheckedWriter.isClosedPipe(failure.get())) {
            return code == OK ? CLOSED_PIPE : code;
        }
        say("error: cannot write to standard output: " + Failures.text(failure.get()));
        return code == OK ? FAILED : code;
    }

    private int execute(String... arguments) {
        List<String> unreadable = Arguments.faults(arguments);
        if (!unreadable.isEmpty()) {
            return misunderstood(root, unreadable);
        }
        ParseResult parsed = root.parseArgs(arguments);
        List<String> faults = new ArrayList<>();
        CommandLine line = root;
        boolean checkable = true;
        for (ParseResult at = parsed; ; at = at.subcommand()) {
            line = at.commandSpec().commandLine();
            CommandLine level = line;
            at.errors().forEach(error -> faults.add(Failures.text(error) + meant(error, level)));
            List<String> paths = pathFaults(at);
            faults.addAll(paths);
            // A check whose path is missing would only report consequences of that.
            checkable &= paths.isEmpty() && at.errors().stream().noneMatch(MissingParameterException.class::isInstance);
            if (line.isUsageHelpRequested()) {
                line.usage(root.getOut());
                root.getOut().flush();
                return OK;
            }
            if (line.isVersionHelpRequested()) {
                line.printVersionHelp(root.getOut());
                root.getOut().flush();
                return OK;
            }
            if (!at.hasSubcommand()) {
                break;
            }
        }
        if (!(line.getCommand() instanceof NodekeeperCommand command)) {
            if (faults.isEmpty()) {
                faults.add("a command is missing; expected one of "
                        + String.join(", ", root.getSubcommands().keySet()));
            }
            return misunderstood(line, faults);
        }
        if (checkable) {
            // A flag that could not be read keeps its default, which passes its check.
            Faults together = new Faults();
            command.check(together);
            faults.addAll(together.list());
        }
        return faults.isEmpty() ? run(command) : misunderstood(line, faults);
    }

    /** What an unknown option or command may have meant. */
    private static String meant(Exception error, CommandLine line) {
        if (!(error instanceof UnmatchedArgumentException unmatched)
                || unmatched.getUnmatched().isEmpty()) {
            return "";
        }
        String typed = unmatched.getUnmatched().getFirst();
        int equals = typed.indexOf('=');
        String word = typed.startsWith("-") && equals > 0 ? typed.substring(0, equals) : typed;
        List<String> words = word.startsWith("-")
                ? List.copyOf(line.getCommandSpec().optionsMap().keySet())
                : List.copyOf(line.getSubcommands().keySet());
        return Nearest.hint(word, words).map(hint -> "; " + hint).orElse("");
    }

    /** Faults of paths that no file can have. An empty path would mean the working directory. */
    private static List<String> pathFaults(ParseResult at) {
        List<String> faults = new ArrayList<>();
        Stream.<ArgSpec>concat(at.matchedOptions().stream(), at.matchedPositionals().stream())
                .filter(argument -> argument.type() == Path.class
                        || Arrays.asList(argument.auxiliaryTypes()).contains(Path.class))
                .forEach(argument -> {
                    String name = argument instanceof OptionSpec option ? option.longestName() : argument.paramLabel();
                    for (String value : argument.stringValues()) {
                        if (value.isBlank()) {
                            faults.add(name + " is empty; expected a " + argument.paramLabel());
                        } else {
                            Arguments.pathFault(value).ifPresent(fault -> faults.add(name + " " + fault));
                        }
                    }
                });
        return faults;
    }

    private int run(NodekeeperCommand command) {
        Logging.configure(command.logging.verbosity);
        try {
            return command.run();
        } catch (InterruptedException e) {
            return OK;
        } catch (Exception e) {
            LoggerFactory.getLogger(CommandRunner.class).debug("the command failed", e);
            say("error: " + FileErrors.text(e));
            return FAILED;
        }
    }

    private int misunderstood(CommandLine line, List<String> faults) {
        if (faults.size() == 1) {
            say("error: " + faults.getFirst());
        } else {
            say("error: " + faults.size() + " errors:");
            faults.stream().limit(MOST_FAULTS).forEach(fault -> say("  - " + fault));
            if (faults.size() > MOST_FAULTS) {
                say("  - and " + (faults.size() - MOST_FAULTS) + " more");
            }
        }
        say("See: " + line.getCommandSpec().qualifiedName() + " --help");
        return USAGE;
    }

    /** Makes the text printable, because messages may quote values from files and servers. */
    private void say(String text) {
        root.getErr().println(Printable.text(text, LONGEST_MESSAGE));
        root.getErr().flush();
    }
}
