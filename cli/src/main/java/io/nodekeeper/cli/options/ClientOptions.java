package io.nodekeeper.cli.options;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.client.config.InCluster;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.client.config.ServerAccess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/**
 * The flags for the API server that a person means: as with kubectl, {@code --kubeconfig}, then {@code $KUBECONFIG},
 * then {@code ~/.kube/config}, then the pod's service account. Servers and agents use {@link KubeconfigOptions}, so
 * that they never take a person's file by accident.
 */
public final class ClientOptions implements Checked {
    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "The kubeconfig file with the API server's address and the client's credentials. Default: the"
                    + " files in $KUBECONFIG, then ~/.kube/config, then the service account of the pod that this"
                    + " process runs in.")
    Optional<Path> file = Optional.empty();

    @Option(
            names = "--context",
            paramLabel = "NAME",
            description =
                    "The context of the kubeconfig. Default: its current context. Several files in $KUBECONFIG count as"
                            + " one: of entries with one name, the first is used.")
    String context = "";

    private final Map<String, String> environment;

    public ClientOptions() {
        this(System.getenv());
    }

    public ClientOptions(Map<String, String> environment) {
        this.environment = environment;
    }

    @Override
    public void check(Faults faults) {
        faults.readable("--kubeconfig", file);
        faults.require(
                file.isPresent() || !files().isEmpty() || InCluster.isPresent(environment),
                "--kubeconfig is missing, there is no file in $KUBECONFIG and no ~/.kube/config, and this does not run"
                        + " in a pod; expected a file such as DIR/admin.kubeconfig, which \"nodekeeper up\" writes");
        faults.require(
                context.isEmpty() || file.isPresent() || !files().isEmpty(),
                "--context is \"" + context + "\", but there is no kubeconfig; expected --kubeconfig FILE");
    }

    /** The flags with which another command uses the same access; empty if they were not given. */
    public List<String> flags() {
        List<String> flags = new ArrayList<>();
        file.ifPresent(path -> flags.addAll(List.of("--kubeconfig", path.toString())));
        if (!context.isEmpty()) {
            flags.addAll(List.of("--context", context));
        }
        return flags;
    }

    /** The access; throws KubeconfigException with all faults of the files. */
    public ServerAccess access() {
        List<Path> files = files();
        return files.isEmpty() ? InCluster.load(environment, InCluster.DIRECTORY) : Kubeconfig.load(files, context);
    }

    /**
     * What a message about a connection that failed adds: other clients may reach that server through a proxy. Empty if no variable
     * names one.
     */
    public String proxyAdvice() {
        return Stream.of("HTTPS_PROXY", "https_proxy")
                .filter(name -> !environment.getOrDefault(name, "").isEmpty())
                .findFirst()
                .map(name -> "; " + name + " is set, but nodekeeper uses no proxy")
                .orElse("");
    }

    /** The files to read. One that $KUBECONFIG names need not exist. */
    private List<Path> files() {
        if (file.isPresent()) {
            return List.of(file.get());
        }
        String list = environment.getOrDefault("KUBECONFIG", "");
        Stream<Path> named =
                Stream.of(list.split(":", -1)).filter(name -> !name.isEmpty()).map(Path::of);
        String home = environment.getOrDefault("HOME", "");
        Stream<Path> usual = home.isEmpty() ? Stream.of() : Stream.of(Path.of(home, ".kube", "config"));
        return (list.isEmpty() ? usual : named).filter(Files::exists).toList();
    }
}
