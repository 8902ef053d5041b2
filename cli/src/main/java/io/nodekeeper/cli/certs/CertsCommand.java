package io.nodekeeper.cli.certs;

import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.DataDirOptions;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.client.files.OwnerOnly;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code certs}: issues a kubeconfig signed by the authority in a data directory. */
@Command(
        name = "certs",
        description =
                "Issues a kubeconfig for a node or a user, signed by the authority in the server's data directory.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper certs --node web-1 --server https://10.0.0.1:6443",
            "      Writes nodekeeper-data/agent-web-1.kubeconfig for the agent of node web-1.",
            "  nodekeeper certs --user alice --group developers --out alice.kubeconfig"
        })
public final class CertsCommand extends NodekeeperCommand {
    /** The characters allowed in a certificate's name, which also need no quoting in YAML. */
    private static final String PLAIN = "[A-Za-z0-9._:@-]+";

    /** The most characters of a name, so that "agent-NAME.kubeconfig" fits a Linux file name. */
    private static final int NAME = 238;

    @Mixin
    DataDirOptions data = new DataDirOptions();

    @Option(names = "--node", paramLabel = "NAME", description = "The node whose agent the kubeconfig is for.")
    Optional<String> node = Optional.empty();

    @Option(
            names = "--user",
            paramLabel = "NAME",
            description = "The user that the kubeconfig is for, instead of --node.")
    Optional<String> user = Optional.empty();

    @Option(names = "--group", paramLabel = "NAME", description = "A group of the user; may be repeated.")
    List<String> groups = new ArrayList<>();

    @Option(
            names = "--server",
            paramLabel = "URL",
            description = "The API server's address for the user of the kubeconfig. Default: the address in"
                    + " DIR/admin.kubeconfig.")
    Optional<URI> server = Optional.empty();

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "The file to write. Default: DIR/agent-NAME.kubeconfig or DIR/NAME.kubeconfig.")
    Optional<Path> out = Optional.empty();

    private final Instant now;
    private final RandomGenerator random;
    private final PrintWriter console;

    /** Issues at {@code now}; prints to {@code console} what was written. */
    public CertsCommand(Instant now, RandomGenerator random, PrintWriter console) {
        this.now = now;
        this.random = random;
        this.console = console;
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        data.check(faults);
        out.ifPresent(file -> {
            faults.writable("--out", file);
            OwnerOnly.outputFault(file).ifPresent(fault -> faults.require(false, fault));
        });
        faults.require(node.isPresent() != user.isPresent(), "expected --node NAME or --user NAME, one of them");
        faults.require(groups.isEmpty() || user.isPresent(), "--group needs --user");
        node.ifPresent(name -> faults.name("--node", name, NAME));
        user.ifPresent(name -> plain(faults, "--user", name));
        groups.forEach(name -> plain(faults, "--group", name));
        user.ifPresent(name -> faults.require(
                !isOwn(out.orElseGet(() -> data.dir.resolve(file(name)))),
                "--user is \"" + name + "\", whose file " + out.orElseGet(() -> data.dir.resolve(file(name)))
                        + " is the API server's own; expected --out with another file"));
        server.ifPresent(uri -> faults.require(
                Faults.isUrl(uri, "https"),
                "--server is " + Faults.shown(uri) + "; expected a form like https://10.0.0.1:6443"));
        Path authority = data.dir.resolve("pki").resolve("ca.key");
        faults.require(
                Files.isReadable(authority),
                authority + " cannot be read; expected the --data-dir of an API server that has been started once");
        faults.require(
                server.isPresent() || Files.isReadable(data.dir.resolve("admin.kubeconfig")),
                "--server is missing, and there is no " + data.dir.resolve("admin.kubeconfig") + " to tell it");
    }

    private boolean isOwn(Path file) {
        Path absolute = file.toAbsolutePath().normalize();
        return data.dir.toAbsolutePath().normalize().equals(absolute.getParent())
                && KubeconfigFiles.isOwn(String.valueOf(absolute.getFileName()));
    }

    /** The name of a user's kubeconfig. */
    private static String file(String user) {
        return user.replace(':', '-') + ".kubeconfig";
    }

    private static void plain(Faults faults, String flag, String name) {
        faults.require(
                name.length() <= NAME && name.matches(PLAIN),
                flag + " is \"" + name + "\"; expected letters, digits and . _ : @ -, at most " + NAME);
    }

    @Override
    public int run() throws IOException {
        URI address = server.orElseGet(
                () -> Kubeconfig.load(data.dir.resolve("admin.kubeconfig")).server());
        KubeconfigFiles files = new KubeconfigFiles(Certificates.existing(data.dir, now, random), address);
        Path written;
        if (out.isEmpty() && node.isPresent()) {
            written = files.agent(data.dir, node.get());
        } else {
            String commonName = node.map(name -> "system:node:" + name).orElseGet(() -> user.orElse(""));
            List<String> memberOf = node.isPresent() ? List.of("system:nodes") : groups;
            Path file = out.orElseGet(() -> data.dir.resolve(file(commonName)));
            written = files.ensure(file, commonName, memberOf);
        }
        console.println(written);
        console.flush();
        return CommandRunner.OK;
    }
}
