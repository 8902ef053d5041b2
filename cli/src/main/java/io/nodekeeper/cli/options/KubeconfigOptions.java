package io.nodekeeper.cli.options;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.client.config.InCluster;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.client.config.ServerAccess;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flag for the API server's address and this client's credentials. */
public final class KubeconfigOptions implements Checked {
    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "The kubeconfig file with the API server's address and the client's credentials. Default: the"
                    + " service account of the pod that this process runs in.")
    Optional<Path> file = Optional.empty();

    private final Map<String, String> environment;

    public KubeconfigOptions() {
        this(System.getenv());
    }

    public KubeconfigOptions(Map<String, String> environment) {
        this.environment = environment;
    }

    @Override
    public void check(Faults faults) {
        faults.require(
                file.isPresent() || InCluster.isPresent(environment),
                "--kubeconfig is missing, and this does not run in a pod; expected a file such as"
                        + " DIR/admin.kubeconfig, which \"nodekeeper up\" writes");
        faults.readable("--kubeconfig", file);
    }

    /** The file that was given. */
    public Optional<Path> file() {
        return file;
    }

    /** The access; throws KubeconfigException with all faults of the file. */
    public ServerAccess access() {
        return file.map(Kubeconfig::load).orElseGet(() -> InCluster.load(environment, InCluster.DIRECTORY));
    }
}
