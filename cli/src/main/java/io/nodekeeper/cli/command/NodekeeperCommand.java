package io.nodekeeper.cli.command;

import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What all commands have in common. A command is what was typed; its launcher does it. */
public abstract class NodekeeperCommand implements Checked {
    @Mixin
    public LoggingOptions logging = new LoggingOptions();

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this.")
    boolean help;

    /** Does what the command is for; see {@link Launcher#launch}. */
    public abstract int run() throws Exception;

    /** The commands that are typed after this one. */
    public List<NodekeeperCommand> parts() {
        return List.of();
    }

    @Override
    public void check(Faults faults) {
        logging.check(faults);
    }
}
