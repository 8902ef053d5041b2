package io.nodekeeper.cli.source;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.ClientOptions;
import io.nodekeeper.client.config.KubeconfigException;
import io.nodekeeper.client.config.ServerAccess;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The flags that say where the controller is. */
public final class SourceOptions implements Checked {
    /** A Service's name and port in the form of the API server's proxy. */
    private static final String SERVICE = "(https?:)?[a-z]([-a-z0-9]{0,61}[a-z0-9])?:([a-z0-9-]{1,15}|[0-9]{1,5})";

    private static final String NAMESPACE = "kube-system";
    private static final String SERVICE_DEFAULT = "https:nodekeeper-controller:10257";
    /** The controller's own default. */
    private static final int LOCAL_PORT = 10_257;

    @Mixin
    ClientOptions client = new ClientOptions();

    @Option(
            names = "--server",
            paramLabel = "URL",
            description =
                    "The address of the controller's pages. Default: the address in the API, then the API server's"
                            + " proxy to --controller-service. An address of the kubeconfig's cluster gets its"
                            + " credentials.")
    Optional<URI> server = Optional.empty();

    @Mixin
    PagesCredentials credentials = new PagesCredentials();

    @Option(
            names = "--controller-namespace",
            paramLabel = "NAMESPACE",
            defaultValue = NAMESPACE,
            description = "The namespace of --controller-service. Default: ${DEFAULT-VALUE}.")
    String namespace = NAMESPACE;

    @Option(
            names = "--controller-service",
            paramLabel = "[https:]NAME:PORT",
            defaultValue = SERVICE_DEFAULT,
            description =
                    "The Service with the controller's pages, for the API server's proxy. Default: ${DEFAULT-VALUE}.")
    String service = SERVICE_DEFAULT;

    /** Checks where the controller is; {@code needed} is false if the answer comes from elsewhere. */
    public void check(Faults faults, boolean needed) {
        server.ifPresent(url -> faults.require(
                Faults.isUrl(url, "http", "https"),
                "--server is " + Faults.shown(url) + "; expected a URL like http://127.0.0.1:10257"));
        faults.name("--controller-namespace", namespace, 63);
        faults.require(
                service.matches(SERVICE),
                "--controller-service is \"" + service + "\"; expected a form like https:nodekeeper-controller:10257");
        credentials.check(faults, server);
        if (server.isEmpty() && needed) {
            client.check(faults);
        }
    }

    @Override
    public void check(Faults faults) {
        check(faults, true);
    }

    /** Whether {@code --server} is given. */
    public boolean hasServer() {
        return server.isPresent();
    }

    /**
     * The access to {@code --server}: with its flags; or else with the kubeconfig's credentials, if it is an address of the
     * kubeconfig's API server, such as that of its proxy; or else without credentials.
     */
    ServerAccess access(URI url) {
        return credentials.areGiven() ? credentials.access(url) : ofCluster(url).orElseGet(() -> anonymous(url));
    }

    /** An access without credentials. */
    static ServerAccess anonymous(URI url) {
        return new ServerAccess(url, List.of(), false, "", Optional.empty(), "", Optional.empty());
    }

    private Optional<ServerAccess> ofCluster(URI url) {
        try {
            return Optional.of(client.access())
                    .filter(access -> isBelow(url, access.server()))
                    .map(access -> access.at(url));
        } catch (KubeconfigException e) {
            // There is no kubeconfig, or none that can be used: --server needs none.
            return Optional.empty();
        }
    }

    /** Whether {@code url} has the scheme, host and port of {@code cluster} and a path below its path. */
    static boolean isBelow(URI url, URI cluster) {
        String path = cluster.getPath().endsWith("/") ? cluster.getPath() : cluster.getPath() + "/";
        return url.getScheme().equalsIgnoreCase(cluster.getScheme())
                && url.getHost().equalsIgnoreCase(cluster.getHost())
                && port(url) == port(cluster)
                && (url.getPath() + "/").startsWith(path)
                && !url.getPath().contains("..");
    }

    private static int port(URI url) {
        int usual = "https".equalsIgnoreCase(url.getScheme()) ? 443 : 80;
        return url.getPort() < 0 ? usual : url.getPort();
    }

    /** The value of {@code --server}. */
    public Optional<URI> server() {
        return server;
    }

    /** The flags with which another command asks the same controller; empty if the defaults lead there. */
    public List<String> flags() {
        if (server.isPresent()) {
            return List.of("--server", server.get().toString());
        }
        List<String> flags = new ArrayList<>(client.flags());
        if (!namespace.equals(NAMESPACE)) {
            flags.addAll(List.of("--controller-namespace", namespace));
        }
        if (!service.equals(SERVICE_DEFAULT)) {
            flags.addAll(List.of("--controller-service", service));
        }
        return flags;
    }

    /** The command after which the pages of the service are at {@link #forwarded}. */
    public String portForward() {
        return "kubectl -n " + namespace + " port-forward service/" + part(0) + " " + LOCAL_PORT + ":" + part(1);
    }

    /** The address of the pages while {@link #portForward} runs. */
    public URI forwarded() {
        return URI.create((service.equals("https:" + nameAndPort()) ? "https" : "http") + "://127.0.0.1:" + LOCAL_PORT);
    }

    /** The name or the port of the service. */
    private String part(int index) {
        return nameAndPort().split(":", 2)[index];
    }

    /** The service as {@code NAME:PORT}, without a scheme before it. A service may have the name of one. */
    String nameAndPort() {
        return service.replaceFirst("^https?:(?=.*:)", "");
    }

    /** The path of the proxy to the controller's pages. */
    String proxy() {
        return "/api/v1/namespaces/" + namespace + "/services/" + service + "/proxy";
    }
}
