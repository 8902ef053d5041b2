package io.nodekeeper.cli.apiserver;

import io.nodekeeper.api.Names;
import io.nodekeeper.apiserver.FeatureGate;
import io.nodekeeper.apiserver.admission.DefaultTolerations;
import io.nodekeeper.apiserver.eventratelimit.EventLimits;
import io.nodekeeper.apiserver.eventratelimit.EventLimitsFile;
import io.nodekeeper.apiserver.flowcontrol.FlowControlOptions;
import io.nodekeeper.cli.command.Arguments;
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

/** What an API server can be told. Names are kube-apiserver's where it has them. */
public final class ApiServerOptions implements Checked {
    /** The names of the gates, as a shell completes them. */
    public static final class Gates extends ArrayList<String> {
        private static final long serialVersionUID = 1;

        public Gates() {
            super(FeatureGate.names());
        }
    }

    /** Where objects live. */
    public enum Store {
        /** In a database below the data directory. */
        rocksdb,
        /** In memory alone: gone at the end. */
        memory,
        /** In an etcd cluster, which other servers may use as well. */
        etcd
    }

    @Mixin
    public DataDirOptions data = new DataDirOptions();

    @Option(
            names = "--secure-port",
            paramLabel = "N",
            defaultValue = "6443",
            description = "The port for HTTPS; 0 for any that is free. Default: ${DEFAULT-VALUE}.")
    public int securePort = 6443;

    @Option(
            names = "--bind-address",
            paramLabel = "ADDRESS",
            defaultValue = "0.0.0.0",
            description = "The address to listen on. Default: ${DEFAULT-VALUE}, all.")
    String bindAddress = "0.0.0.0";

    @Option(
            names = "--store",
            paramLabel = "rocksdb|memory|etcd",
            defaultValue = "rocksdb",
            description = "Where objects live: in a database below the data directory, in memory alone, or in an etcd"
                    + " cluster (--etcd-servers), which other servers may use as well."
                    + " Default: ${DEFAULT-VALUE}.")
    public Store store = Store.rocksdb;

    @Mixin
    EtcdFlags etcd = new EtcdFlags();

    @Mixin
    EncryptionOptions encryption = new EncryptionOptions();

    @Option(
            names = "--accept-store-loss",
            description =
                    "Starts on a damaged store: repairs it first, as \"nodekeeper apiserver repair\" does, and logs"
                            + " what is lost. Without it the start fails and changes nothing.")
    boolean acceptStoreLoss;

    @Option(
            names = "--tls-cert-file",
            paramLabel = "FILE",
            description =
                    "The server's certificate (PEM), with --tls-private-key-file; when it changes, new connections see"
                            + " the new one. Default: one made below the data directory.")
    Optional<Path> tlsCertFile = Optional.empty();

    @Option(names = "--tls-private-key-file", paramLabel = "FILE", description = "The key of --tls-cert-file (PEM).")
    Optional<Path> tlsPrivateKeyFile = Optional.empty();

    @Option(
            names = "--client-ca-file",
            paramLabel = "FILE",
            description = "Who may vouch for clients (PEM), besides the authority in the data directory.")
    Optional<Path> clientCaFile = Optional.empty();

    @Option(
            names = "--tls-san",
            split = ",",
            paramLabel = "NAME|ADDRESS",
            description = "More names and addresses for the certificate that is made; this machine's are in it anyway.")
    List<String> tlsSans = new ArrayList<>();

    @Option(
            names = "--token-auth-file",
            paramLabel = "FILE",
            description = "Bearer tokens, a line each: token,user,uid,\"group1,group2\".")
    Optional<Path> tokenAuthFile = Optional.empty();

    @Mixin
    ServiceAccountOptions serviceAccounts = new ServiceAccountOptions();

    @Mixin
    AuditOptions audit = new AuditOptions();

    @Option(
            names = "--quota-backend-bytes",
            paramLabel = "N",
            defaultValue = "2147483648",
            description =
                    "How many bytes all objects of a store that is not etcd may take; beyond that writes that need"
                            + " space are refused until objects were deleted. Default: ${DEFAULT-VALUE}, as etcd's.")
    long quotaBackendBytes = StoreLimits.QUOTA;

    @Option(
            names = "--event-rate-limit-config",
            paramLabel = "FILE",
            description =
                    "How many Events may be written: a Configuration of eventratelimit.admission.k8s.io/v1alpha1 in YAML"
                            + " or JSON. Default: 1000 a second in all and 200 for each user.")
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
            description = "How many seconds pods stay on a node that is not ready, unless they say it themselves."
                    + " Default: ${DEFAULT-VALUE}.")
    long defaultNotReadyTolerationSeconds = DefaultTolerations.DEFAULT.notReadySeconds();

    @Option(
            names = "--default-unreachable-toleration-seconds",
            paramLabel = "N",
            defaultValue = "300",
            description = "How many seconds pods stay on an unreachable node, unless they say it themselves."
                    + " Default: ${DEFAULT-VALUE}.")
    long defaultUnreachableTolerationSeconds = DefaultTolerations.DEFAULT.unreachableSeconds();

    @Option(
            names = "--max-requests-inflight",
            paramLabel = "N",
            defaultValue = "400",
            description = "How many gets and lists are answered at a time; more get a 429. Default: ${DEFAULT-VALUE}.")
    int maxRequestsInflight = FlowControlOptions.DEFAULT.reads();

    @Option(
            names = "--max-mutating-requests-inflight",
            paramLabel = "N",
            defaultValue = "200",
            description =
                    "How many writes are answered at a time; more get a 429. Heartbeats of nodes and leaders do not"
                            + " count. Default: ${DEFAULT-VALUE}.")
    int maxMutatingRequestsInflight = FlowControlOptions.DEFAULT.writes();

    @Option(
            names = "--request-timeout",
            paramLabel = "DURATION",
            defaultValue = "1m",
            converter = DurationConverter.class,
            description = "The longest that a request other than a watch may take. Default: ${DEFAULT-VALUE}.")
    Duration requestTimeout = FlowControlOptions.DEFAULT.timeout();

    @Option(
            names = "--shutdown-delay-duration",
            paramLabel = "DURATION",
            defaultValue = "0s",
            converter = DurationConverter.class,
            description = "How long the server goes on, not ready, when it is told to stop, so that load balancers"
                    + " notice. Default: ${DEFAULT-VALUE}.")
    Duration shutdownDelayDuration = Duration.ZERO;

    /** How much a store may take that is not etcd. */
    StoreLimits limits() {
        return StoreLimits.DEFAULT.quota(quotaBackendBytes);
    }

    /** What {@code --feature-gates} of the command says. */
    public GateOptions gates = new GateOptions("", FeatureGate.names());

    /** How much is done at a time. */
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
        faults.require(
                (store == Store.etcd) == !etcd.servers.isEmpty(),
                "--store etcd and --etcd-servers are needed both, or neither");
        faults.within("--secure-port", securePort, 0, 65_535);
        faults.address("--bind-address", bindAddress);
        tlsSans.forEach(name -> faults.require(
                Arguments.isAddress(name)
                        || Names.subdomainFault(
                                        (name.startsWith("*.") ? name.substring(2) : name).toLowerCase(Locale.ROOT))
                                .isEmpty(),
                "--tls-san has \"" + name + "\"; expected a DNS name or an IP address"));
        faults.require(
                tlsCertFile.isPresent() == tlsPrivateKeyFile.isPresent(),
                "--tls-cert-file and --tls-private-key-file are needed both, or neither");
        faults.readable("--tls-cert-file", tlsCertFile);
        faults.readable("--tls-private-key-file", tlsPrivateKeyFile);
        faults.readable("--client-ca-file", clientCaFile);
        faults.readable("--token-auth-file", tokenAuthFile);
        faults.readable("--event-rate-limit-config", eventRateLimitConfig);
        serviceAccounts.check(faults);
        audit.check(faults);
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
