package io.nodekeeper.cli;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Where the controller keeps its decisions, and tells of them. */
final class HistoryOptions implements Checked {
    private static final String DEFAULT_ADDRESS = "127.0.0.1:10257";

    @Option(
            names = "--history-dir",
            paramLabel = "DIR",
            description = "Keeps every decision in this directory, for \"nodekeeper why\". Default: history below"
                    + " --data-dir for up; for controller, history below $STATE_DIRECTORY if that is set (systemd does"
                    + " for StateDirectory=), else in memory until the process ends, as it does with the leadership.")
    Optional<Path> dir = Optional.empty();

    @Option(
            names = "--history-size",
            paramLabel = "MIB",
            defaultValue = "64",
            description = "The most disk that it takes, in MiB; the oldest go. Default: ${DEFAULT-VALUE}.")
    int mebibytes = 64;

    @Option(
            names = "--controller-bind-address",
            paramLabel = "ADDRESS:PORT|PORT|0|off",
            description =
                    "Where to serve /metrics, /healthz, /readyz and /debug over plain HTTP; 0 for any free port of"
                            + " 127.0.0.1. Default: " + DEFAULT_ADDRESS + ", or any free port if that is taken.")
    Optional<String> bindAddress = Optional.empty();

    /**
     * Where decisions are kept; empty for memory, which ends with the process, and so with its leadership.
     *
     * @param environment the process' environment
     */
    Optional<Path> directory(Map<String, String> environment) {
        return dir.or(() -> Optional.ofNullable(environment.get("STATE_DIRECTORY"))
                // systemd separates several by colons.
                .map(directories -> directories.split(":", -1)[0])
                .filter(first -> !first.isEmpty())
                .map(first -> Path.of(first, "history")));
    }

    /** Where to listen. */
    BindAddress address() {
        return new BindAddress(bindAddress.orElse(DEFAULT_ADDRESS));
    }

    /** The most disk that history takes. */
    long bytes() {
        return mebibytes * 1024L * 1024L;
    }

    @Override
    public void check(Faults faults) {
        dir.ifPresent(path -> faults.directory("--history-dir", path));
        faults.within("--history-size", mebibytes, 1, 1_000_000);
        faults.require(
                address().isGood(),
                "--controller-bind-address is \"" + address().text()
                        + "\"; expected ADDRESS:PORT, PORT, 0 for any, or off");
    }
}
