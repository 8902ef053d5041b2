package io.nodekeeper.cli.command;

import picocli.CommandLine.Option;

/** How much a process says. */
public final class LoggingOptions implements Checked {
    @Option(
            names = {"-v", "--v"},
            paramLabel = "N",
            defaultValue = "2",
            description =
                    "How much to log: 0 for what an operator wants to know, 4 for details, 6 for every call, 8 for"
                            + " the libraries too. Default: ${DEFAULT-VALUE}.")
    public int verbosity = 2;

    @Override
    public void check(Faults faults) {
        faults.within("-v", verbosity, 0, 10);
    }
}
