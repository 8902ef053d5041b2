package io.nodekeeper.cli.controller;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.client.leaderelection.LeaderElectionConfig;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flags for leader election among controllers. Names and defaults are kube-controller-manager's. */
final class ElectionOptions implements Checked {
    private static final String LEASES = "leases";

    @Option(
            names = "--leader-elect",
            arity = "0..1",
            paramLabel = "true|false",
            fallbackValue = "true",
            description = "Whether to work only while holding the lock, so that other controllers can stand by. A"
                    + " controller that loses the lock exits with code 1, so that a supervisor restarts it. Default:"
                    + " true for controller, false for up and for --mode observe and guard.")
    Optional<Boolean> elect = Optional.empty();

    @Option(
            names = "--leader-elect-lease-duration",
            paramLabel = "DURATION",
            defaultValue = "15s",
            converter = DurationConverter.class,
            description = "How long other controllers wait after the leader's last renewal before they take the"
                    + " lock. Default: ${DEFAULT-VALUE}.")
    Duration leaseDuration = Duration.ofSeconds(15);

    @Option(
            names = "--leader-elect-renew-deadline",
            paramLabel = "DURATION",
            defaultValue = "10s",
            converter = DurationConverter.class,
            description = "How long a leader tries to renew the lock before it stops leading. Default:"
                    + " ${DEFAULT-VALUE}.")
    Duration renewDeadline = Duration.ofSeconds(10);

    @Option(
            names = "--leader-elect-retry-period",
            paramLabel = "DURATION",
            defaultValue = "2s",
            converter = DurationConverter.class,
            description = "The time between two attempts to renew or to take the lock. Default: ${DEFAULT-VALUE}.")
    Duration retryPeriod = Duration.ofSeconds(2);

    @Option(
            names = "--leader-elect-resource-name",
            paramLabel = "NAME",
            defaultValue = "kube-controller-manager",
            description = "The name of the Lease that is the lock. The default is the lock of"
                    + " kube-controller-manager, so that the two never manage nodes at the same time. If a"
                    + " kube-controller-manager runs without its node controllers, use another name. Default:"
                    + " ${DEFAULT-VALUE}.")
    String resourceName = "kube-controller-manager";

    @Option(
            names = "--leader-elect-resource-namespace",
            paramLabel = "NAMESPACE",
            defaultValue = "kube-system",
            description = "The namespace of the Lease. Default: ${DEFAULT-VALUE}.")
    String resourceNamespace = "kube-system";

    @Option(
            names = "--leader-elect-resource-lock",
            paramLabel = LEASES,
            defaultValue = LEASES,
            description = "The kind of the lock; only one is supported. Default: ${DEFAULT-VALUE}.")
    String resourceLock = LEASES;

    /** The configuration of the election; a clean stop releases the lease. */
    LeaderElectionConfig config() {
        return config(resourceNamespace, resourceName);
    }

    private LeaderElectionConfig config(String namespace, String name) {
        return new LeaderElectionConfig(leaseDuration, renewDeadline, retryPeriod, namespace, name, true);
    }

    @Override
    public void check(Faults faults) {
        // Only the times; names are checked below.
        for (String fault : config("any", "any").faults()) {
            faults.require(
                    false,
                    "leader election: " + fault + "; --leader-elect-lease-duration is "
                            + GoDuration.format(leaseDuration) + ", --leader-elect-renew-deadline "
                            + GoDuration.format(renewDeadline) + ", --leader-elect-retry-period "
                            + GoDuration.format(retryPeriod));
        }
        faults.name("--leader-elect-resource-name", resourceName, 253);
        faults.name("--leader-elect-resource-namespace", resourceNamespace, 63);
        faults.require(
                resourceLock.equals(LEASES),
                "--leader-elect-resource-lock is \"" + resourceLock + "\"; expected " + LEASES);
    }
}
