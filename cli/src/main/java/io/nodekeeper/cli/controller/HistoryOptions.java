package io.nodekeeper.cli.controller;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.BindAddress;
import io.nodekeeper.client.files.OwnerOnly;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;

/** The flags for where the controller stores its decisions and serves them. */
public final class HistoryOptions implements Checked {
    private static final Logger log = LoggerFactory.getLogger(HistoryOptions.class);
    private static final String DEFAULT_ADDRESS = "127.0.0.1:10257";

    @Option(
            names = "--history-dir",
            paramLabel = "DIR",
            description = "The directory in which every decision is stored, for \"nodekeeper why\". Default for up:"
                    + " history in --data-dir. Default for controller: history in $STATE_DIRECTORY if that is set"
                    + " (systemd sets it for StateDirectory=), else nodekeeper/controller/SERVER/history in"
                    + " $XDG_STATE_HOME or ~/.local/state. With --mode observe and guard, only this flag and"
                    + " $STATE_DIRECTORY count. Without a directory that is writable, decisions are in memory until the"
                    + " process ends, which it also does when it loses the leadership.")
    public Optional<Path> dir = Optional.empty();

    @Option(
            names = "--history-size",
            paramLabel = "MIB",
            defaultValue = "64",
            description = "The disk limit of --history-dir in MiB; the oldest decisions are deleted first. Default:"
                    + " ${DEFAULT-VALUE}.")
    int mebibytes = 64;

    @Option(
            names = "--controller-bind-address",
            paramLabel = "ADDRESS:PORT|PORT|0|off",
            description =
                    "The address that serves /metrics, /healthz, /readyz and /debug; 0 for any free port of 127.0.0.1."
                            + " On an address other than loopback with TLS, to users whom the cluster lets in. Default:"
                            + DEFAULT_ADDRESS + ", or any free port if that is taken.")
    Optional<String> bindAddress = Optional.empty();

    /**
     * Where decisions are stored; empty for memory, in which they last until the process ends.
     *
     * @param environment the process' environment
     * @param server the API server; part of the path because clusters must not share a directory
     */
    public Optional<Path> directory(Map<String, String> environment, URI server) {
        return directory(environment)
                .or(() -> stateHome(environment)
                        .map(home -> home.resolve(Path.of("nodekeeper", "controller", name(server), "history")))
                        .filter(HistoryOptions::isUsable));
    }

    private static boolean isUsable(Path directory) {
        try {
            OwnerOnly.directory(directory);
            if (Files.isWritable(directory)) {
                return true;
            }
            log.info("decisions cannot be kept in {}: it is not writable", directory);
        } catch (IOException e) {
            log.info("decisions cannot be kept in {}: {}", directory, e.toString());
        }
        return false;
    }

    private static String name(URI server) {
        String host = server.getHost() == null ? "" : server.getHost();
        int port = server.getPort() < 0 ? 443 : server.getPort();
        return host.replaceAll("[^A-Za-z0-9.-]", "_") + "_" + port;
    }

    /** XDG's directory for state; empty if there is no home directory, as for many services. */
    private static Optional<Path> stateHome(Map<String, String> environment) {
        return absolute(environment, "XDG_STATE_HOME")
                .or(() -> absolute(environment, "HOME").map(home -> home.resolve(Path.of(".local", "state"))));
    }

    private static Optional<Path> absolute(Map<String, String> environment, String name) {
        return Optional.ofNullable(environment.get(name))
                .filter(value -> !value.isEmpty())
                .map(Path::of)
                .filter(Path::isAbsolute);
    }

    /** The directory that a flag or the service manager names. */
    public Optional<Path> directory(Map<String, String> environment) {
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

    /** The disk limit of the history. */
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
