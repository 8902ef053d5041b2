package io.nodekeeper.cli.command;

import picocli.CommandLine.Option;

/** The flag for the verbosity of logs. */
public final class LoggingOptions implements Checked {
    @Option(
            names = {"-v", "--v"},
            paramLabel = "N",
            defaultValue = "2",
            description = "The verbosity of logs: 0 for what operators need, 4 for details, 6 for every call, 8 for"
                    + " libraries too. Default: ${DEFAULT-VALUE}.")
    public int verbosity = 2;

    @Override
    public void check(Faults faults) {
        faults.within("-v", verbosity, 0, 10);
    }
}
