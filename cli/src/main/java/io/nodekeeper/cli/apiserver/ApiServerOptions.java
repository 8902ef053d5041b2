package io.nodekeeper.cli.apiserver;

import io.nodekeeper.api.IpLiteral;
import io.nodekeeper.api.Names;
import io.nodekeeper.apiserver.ApiServerFeature;
import io.nodekeeper.apiserver.admission.DefaultTolerations;
import io.nodekeeper.apiserver.eventratelimit.EventLimits;
import io.nodekeeper.apiserver.eventratelimit.EventLimitsFile;
import io.nodekeeper.apiserver.flowcontrol.FlowControlOptions;
import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.DataDirOptions;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.cli.options.GateOptions;
import io.nodekeeper.client.files.SmallFiles;
import io.nodekeeper.store.memory.StoreLimits;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The flags of an API server. Names are kube-apiserver's where it has them. */
public final class ApiServerOptions implements Checked {
    /** The names of the gates, for shell completion. */
    public static final class Gates extends ArrayList<String> {
        private static final long serialVersionUID = 1;

        public Gates() {
            super(ApiServerFeature.names());
        }
    }

    /** Where the server stores objects. */
    public enum Store {
        /** In a database in the data directory. */
        rocksdb,
        /** In memory only: lost when the server stops. */
        memory,
        /** In an etcd cluster, which other servers may share. */
        etcd
    }

    @Mixin
    public DataDirOptions data = new DataDirOptions();

    @Option(
            names = "--secure-port",
            paramLabel = "N",
            defaultValue = "6443",
            description = "The port for HTTPS; 0 for any free port. Default: ${DEFAULT-VALUE}.")
    public int securePort = 6443;

    @Option(
            names = "--bind-address",
            paramLabel = "ADDRESS",
            defaultValue = "0.0.0.0",
            description = "The address to listen on. Default: ${DEFAULT-VALUE}, which is all addresses.")
    String bindAddress = "0.0.0.0";

    @Option(
            names = "--store",
            paramLabel = "rocksdb|memory|etcd",
            defaultValue = "rocksdb",
            description = "Where objects are stored: in a database in the data directory, in memory only, or in an"
                    + " etcd cluster (--etcd-servers), which other servers may share. Default: ${DEFAULT-VALUE}.")
    public Store store = Store.rocksdb;

    @Mixin
    EtcdFlags etcd = new EtcdFlags();

    @Mixin
    EncryptionOptions encryption = new EncryptionOptions();

    @Option(
            names = "--accept-store-loss",
            description =
                    "Repairs a damaged store at the start, as \"nodekeeper apiserver repair\" does, and logs what is"
                            + " lost. Without this flag the start fails and changes nothing.")
    boolean acceptStoreLoss;

    @Option(
            names = "--tls-cert-file",
            paramLabel = "FILE",
            description = "The server's certificate (PEM), with --tls-private-key-file. When the file changes, new"
                    + " connections use the new certificate. Default: a certificate created in the data"
                    + " directory.")
    Optional<Path> tlsCertFile = Optional.empty();

    @Option(
            names = "--tls-private-key-file",
            paramLabel = "FILE",
            description = "The private key of --tls-cert-file" + " (PEM).")
    Optional<Path> tlsPrivateKeyFile = Optional.empty();

    @Option(
            names = "--client-ca-file",
            paramLabel = "FILE",
            description = "Certificate authorities of clients (PEM), in addition to the authority in the data"
                    + " directory.")
    Optional<Path> clientCaFile = Optional.empty();

    @Option(
            names = "--tls-san",
            split = ",",
            paramLabel = "NAME|ADDRESS",
            description = "Additional names and addresses for the created server certificate, which always has"
                    + " localhost, 127.0.0.1, this machine's host name, the address of that name, and --bind-address."
                    + " Name the address at which other machines reach the server.")
    List<String> tlsSans = new ArrayList<>();

    @Option(
            names = "--token-auth-file",
            paramLabel = "FILE",
            description = "A file of bearer tokens, one per line: token,user,uid,\"group1,group2\".")
    Optional<Path> tokenAuthFile = Optional.empty();

    @Mixin
    ServiceAccountOptions serviceAccounts = new ServiceAccountOptions();

    @Mixin
    AuditOptions audit = new AuditOptions();

    @Mixin
    NodeOptions nodes = new NodeOptions();

    @Mixin
    public SigningOptions signing = new SigningOptions();

    @Option(
            names = "--quota-backend-bytes",
            paramLabel = "N",
            defaultValue = "2147483648",
            description =
                    "The most bytes of all objects in a store other than etcd. A full store refuses writes that need"
                            + " space until objects are deleted. Default: ${DEFAULT-VALUE}, as in etcd.")
    long quotaBackendBytes = StoreLimits.QUOTA;

    @Option(
            names = "--event-rate-limit-config",
            paramLabel = "FILE",
            description =
                    "Rate limits for writing Events: a Configuration of eventratelimit.admission.k8s.io/v1alpha1 in"
                            + " YAML or JSON. Default: 1000 per second in total and 200 per second for each user.")
    Optional<Path> eventRateLimitConfig = Optional.empty();

    @Option(
            names = "--event-ttl",
            paramLabel = "DURATION",
            defaultValue = "1h",
            converter = DurationConverter.class,
            description = "How long Events are kept. Default: ${DEFAULT-VALUE}.")
    public Duration eventTtl = Duration.ofHours(1);

    @Option(
            names = "--default-not-ready-toleration-seconds",
            paramLabel = "N",
            defaultValue = "300",
            description = "How many seconds a pod stays on a node that is not ready, unless the pod has its own"
                    + " toleration. Default: ${DEFAULT-VALUE}.")
    long defaultNotReadyTolerationSeconds = DefaultTolerations.DEFAULT.notReadySeconds();

    @Option(
            names = "--default-unreachable-toleration-seconds",
            paramLabel = "N",
            defaultValue = "300",
            description = "How many seconds a pod stays on an unreachable node, unless the pod has its own"
                    + " toleration. Default: ${DEFAULT-VALUE}.")
    long defaultUnreachableTolerationSeconds = DefaultTolerations.DEFAULT.unreachableSeconds();

    @Option(
            names = "--max-requests-inflight",
            paramLabel = "N",
            defaultValue = "400",
            description = "The most gets and lists at the same time; further ones get status 429. Default:"
                    + " ${DEFAULT-VALUE}.")
    int maxRequestsInflight = FlowControlOptions.DEFAULT.reads();

    @Option(
            names = "--max-mutating-requests-inflight",
            paramLabel = "N",
            defaultValue = "200",
            description =
                    "The most writes at the same time; further ones get status 429. Heartbeats of nodes and leaders"
                            + " do not count. Default: ${DEFAULT-VALUE}.")
    int maxMutatingRequestsInflight = FlowControlOptions.DEFAULT.writes();

    @Option(
            names = "--request-timeout",
            paramLabel = "DURATION",
            defaultValue = "1m",
            converter = DurationConverter.class,
            description = "The time limit of a request other than a watch. Default: ${DEFAULT-VALUE}.")
    Duration requestTimeout = FlowControlOptions.DEFAULT.timeout();

    @Option(
            names = "--shutdown-delay-duration",
            paramLabel = "DURATION",
            defaultValue = "0s",
            converter = DurationConverter.class,
            description = "How long a stopping server continues to serve while /readyz fails, so that load balancers"
                    + " notice. Default: ${DEFAULT-VALUE}.")
    Duration shutdownDelayDuration = Duration.ZERO;

    /** The size limits of a store other than etcd. */
    StoreLimits limits() {
        return StoreLimits.DEFAULT.quota(quotaBackendBytes);
    }

    /** The value of the command's {@code --feature-gates}. */
    public GateOptions gates = new GateOptions("", ApiServerFeature.names());

    /** The limits for requests. */
    FlowControlOptions requests() throws IOException {
        FlowControlOptions options = new FlowControlOptions(
                maxRequestsInflight,
                maxMutatingRequestsInflight,
                FlowControlOptions.DEFAULT.heartbeats(),
                FlowControlOptions.DEFAULT.listsAtOnce(),
                requestTimeout);
        return eventRateLimitConfig.isPresent() ? options.events(eventLimits(eventRateLimitConfig.get())) : options;
    }

    private static EventLimits eventLimits(Path file) throws IOException {
        try {
            return EventLimitsFile.read(SmallFiles.bytes(file));
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    "--event-rate-limit-config " + file + ": "
                            + String.valueOf(e.getMessage()).replace("\n", "; "),
                    e);
        }
    }

    /** How long pods stay on failed nodes. */
    public DefaultTolerations defaultTolerations() {
        return new DefaultTolerations(defaultNotReadyTolerationSeconds, defaultUnreachableTolerationSeconds);
    }

    @Override
    public void check(Faults faults) {
        data.check(faults);
        gates.check(faults);
        etcd.check(faults);
        encryption.check(faults);
        signing.check(faults);
        faults.require(
                (store == Store.etcd) == !etcd.servers.isEmpty(),
                "--store etcd and --etcd-servers must be given together");
        faults.within("--secure-port", securePort, 0, 65_535);
        faults.address("--bind-address", bindAddress);
        tlsSans.forEach(name -> faults.require(
                IpLiteral.is(name)
                        || Names.subdomainFault(
                                        (name.startsWith("*.") ? name.substring(2) : name).toLowerCase(Locale.ROOT))
                                .isEmpty(),
                "--tls-san has \"" + name + "\"; expected a DNS name or an IP address"));
        faults.require(
                tlsCertFile.isPresent() == tlsPrivateKeyFile.isPresent(),
                "--tls-cert-file and --tls-private-key-file must be given together");
        faults.readable("--tls-cert-file", tlsCertFile);
        faults.readable("--tls-private-key-file", tlsPrivateKeyFile);
        faults.readable("--client-ca-file", clientCaFile);
        faults.readable("--token-auth-file", tokenAuthFile);
        faults.readable("--event-rate-limit-config", eventRateLimitConfig);
        serviceAccounts.check(faults);
        audit.check(faults);
        nodes.check(faults);
        faults.require(
                quotaBackendBytes >= 1 << 20,
                "--quota-backend-bytes is " + quotaBackendBytes + ", expected 1048576 or more");
        faults.positive("--event-ttl", eventTtl);
        faults.within("--max-requests-inflight", maxRequestsInflight, 1, 1_000_000);
        faults.within("--max-mutating-requests-inflight", maxMutatingRequestsInflight, 1, 1_000_000);
        faults.positive("--request-timeout", requestTimeout);
        faults.require(
                !shutdownDelayDuration.isNegative(),
                "--shutdown-delay-duration is " + shutdownDelayDuration + ", expected 0s or more");
        faults.within("--default-not-ready-toleration-seconds", defaultNotReadyTolerationSeconds, 0, Integer.MAX_VALUE);
        faults.within(
                "--default-unreachable-toleration-seconds", defaultUnreachableTolerationSeconds, 0, Integer.MAX_VALUE);
    }
}
