package io.nodekeeper.cli.command;

import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The base of all commands. A command holds the flags; its launcher does the work. */
public abstract class NodekeeperCommand implements Checked {
    @Mixin
    public LoggingOptions logging = new LoggingOptions();

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this.")
    boolean help;

    /** Runs the command; see {@link Launcher#launch}. */
    public abstract int run() throws Exception;

    /** The subcommands. */
    public List<NodekeeperCommand> parts() {
        return List.of();
    }

    @Override
    public void check(Faults faults) {
        logging.check(faults);
    }
}
