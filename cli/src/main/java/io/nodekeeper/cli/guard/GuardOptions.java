package io.nodekeeper.cli.guard;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.BindAddress;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.client.config.IdentityFiles;
import io.nodekeeper.controller.guard.RefusalBudget;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The flags of {@code --mode guard}. */
public final class GuardOptions implements Checked {
    /** How each of these flags begins, and no other flag of a controller. */
    public static final String PREFIX = "--guard-";

    @Option(
            names = "--guard-bind-address",
            paramLabel = "ADDRESS:PORT|PORT",
            defaultValue = "0.0.0.0:9443",
            description = "With --mode guard, the address that serves admission reviews over TLS. Default:"
                    + " ${DEFAULT-VALUE}.")
    String bindAddress = "0.0.0.0:9443";

    @Option(
            names = "--guard-enforce",
            description = "With --mode guard, refuses writes that wrongly blame a node. Otherwise the guard lets them"
                    + " pass with a warning.")
    boolean enforce;

    @Option(
            names = "--guard-max-nodes",
            paramLabel = "SHARE",
            defaultValue = "1",
            description = "The largest share of all nodes that the guard protects in one episode; it lets writes about"
                    + " further nodes pass. Default: ${DEFAULT-VALUE}, all nodes.")
    double share = 1;

    @Option(
            names = "--guard-max-duration",
            paramLabel = "DURATION",
            defaultValue = "15m",
            converter = DurationConverter.class,
            description = "How long the guard refuses writes in one episode. Then it lets them pass, until there has"
                    + " been nothing to refuse for 10m. Default: ${DEFAULT-VALUE}.")
    Duration longest = Duration.ofMinutes(15);

    @Option(
            names = "--guard-client-ca-file",
            paramLabel = "FILE",
            description = "With --mode guard, certificates (PEM) of authorities: only clients with a certificate that"
                    + " one of them signed may send reviews. Default: every client may.")
    Optional<Path> clientAuthorities = Optional.empty();

    @Option(
            names = "--guard-client-names",
            split = ",",
            paramLabel = "NAME",
            description = "With --guard-client-ca-file, the common names that a client's certificate may have,"
                    + " separated by commas. Default: any.")
    List<String> clientNames = List.of();

    @Mixin
    GuardUsers users = new GuardUsers();

    /** An unspent budget. */
    RefusalBudget budget() {
        return new RefusalBudget(share, longest);
    }

    /** Who may send reviews. */
    ReviewClients clients() throws IOException {
        return clientAuthorities.isEmpty()
                ? ReviewClients.ALL
                : new ReviewClients(
                        IdentityFiles.authorities("--guard-client-ca-file", clientAuthorities.get()), clientNames);
    }

    @Override
    public void check(Faults faults) {
        faults.require(
                new BindAddress(bindAddress).isGood()
                        && new BindAddress(bindAddress).socket().isPresent(),
                "--guard-bind-address is \"" + bindAddress + "\"; expected ADDRESS:PORT, or PORT");
        faults.require(
                share > 0 && share <= 1, "--guard-max-nodes is " + share + "; expected more than 0, and at most 1");
        faults.positive("--guard-max-duration", longest);
        faults.readable("--guard-client-ca-file", clientAuthorities);
        faults.require(
                clientNames.isEmpty() || clientAuthorities.isPresent(),
                "--guard-client-names is given without --guard-client-ca-file; expected both");
        faults.require(
                clientNames.stream().noneMatch(String::isBlank),
                "--guard-client-names has an empty name; expected names separated by commas");
        users.check(faults);
    }
}
