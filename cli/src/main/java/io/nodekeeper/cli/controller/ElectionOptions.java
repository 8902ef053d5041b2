package io.nodekeeper.cli.controller;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.DurationConverter;
import io.nodekeeper.client.leaderelection.LeaderElectionConfig;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Who of several controllers does the work. Names and defaults are kube-controller-manager's. */
final class ElectionOptions implements Checked {
    private static final String LEASES = "leases";

    @Option(
            names = "--leader-elect",
            arity = "0..1",
            paramLabel = "true|false",
            fallbackValue = "true",
            description = "Whether to work only while holding the lock, so that others can stand by. Who loses it ends,"
                    + " with exit code 1, to be started again. Default: true for controller, false for up and for"
                    + " --mode observe.")
    Optional<Boolean> elect = Optional.empty();

    @Option(
            names = "--leader-elect-lease-duration",
            paramLabel = "DURATION",
            defaultValue = "15s",
            converter = DurationConverter.class,
            description = "How long others wait for a leader that fell silent. Default: ${DEFAULT-VALUE}.")
    Duration leaseDuration = Duration.ofSeconds(15);

    @Option(
            names = "--leader-elect-renew-deadline",
            paramLabel = "DURATION",
            defaultValue = "10s",
            converter = DurationConverter.class,
            description = "After how long without a renewal a leader gives up. Default: ${DEFAULT-VALUE}.")
    Duration renewDeadline = Duration.ofSeconds(10);

    @Option(
            names = "--leader-elect-retry-period",
            paramLabel = "DURATION",
            defaultValue = "2s",
            converter = DurationConverter.class,
            description = "How often to renew or to try. Default: ${DEFAULT-VALUE}.")
    Duration retryPeriod = Duration.ofSeconds(2);

    @Option(
            names = "--leader-elect-resource-name",
            paramLabel = "NAME",
            defaultValue = "kube-controller-manager",
            description = "The Lease that is the lock. The default is the one that kube-controller-manager takes, so"
                    + " that the two never judge nodes at once. Beside one that runs without its node controllers,"
                    + " name another. Default: ${DEFAULT-VALUE}.")
    String resourceName = "kube-controller-manager";

    @Option(
            names = "--leader-elect-resource-namespace",
            paramLabel = "NAMESPACE",
            defaultValue = "kube-system",
            description = "Its namespace. Default: ${DEFAULT-VALUE}.")
    String resourceNamespace = "kube-system";

    @Option(
            names = "--leader-elect-resource-lock",
            paramLabel = LEASES,
            defaultValue = LEASES,
            description = "The kind of lock; there is one only. Default: ${DEFAULT-VALUE}.")
    String resourceLock = LEASES;

    /** How to elect; the lease is given back at a clean stop. */
    LeaderElectionConfig config() {
        return config(resourceNamespace, resourceName);
    }

    private LeaderElectionConfig config(String namespace, String name) {
        return new LeaderElectionConfig(leaseDuration, renewDeadline, retryPeriod, namespace, name, true);
    }

    @Override
    public void check(Faults faults) {
        // The times alone: names are checked below.
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
