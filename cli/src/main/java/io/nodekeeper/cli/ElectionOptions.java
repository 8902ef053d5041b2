package io.nodekeeper.cli;

import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Who of several controllers does the work. Names and defaults are kube-controller-manager's. */
final class ElectionOptions implements Checked {
    /** By how much a retry may be stretched (Kubernetes' JitterFactor). */
    private static final double JITTER = 1.2;

    @Option(
            names = "--leader-elect",
            arity = "0..1",
            paramLabel = "true|false",
            fallbackValue = "true",
            description = "Whether to work only while holding the lock, so that several controllers can stand by."
                    + " Default: true for controller, false for up.")
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
            description = "The Lease that is the lock. Default: ${DEFAULT-VALUE}.")
    String resourceName = "kube-controller-manager";

    @Option(
            names = "--leader-elect-resource-namespace",
            paramLabel = "NAMESPACE",
            defaultValue = "kube-system",
            description = "Its namespace. Default: ${DEFAULT-VALUE}.")
    String resourceNamespace = "kube-system";

    @Override
    public void check(Faults faults) {
        faults.positive("--leader-elect-lease-duration", leaseDuration);
        faults.positive("--leader-elect-renew-deadline", renewDeadline);
        faults.positive("--leader-elect-retry-period", retryPeriod);
        faults.require(
                leaseDuration.compareTo(renewDeadline) > 0,
                "--leader-elect-lease-duration, --leader-elect-renew-deadline: leaseDuration must be greater than"
                        + " renewDeadline");
        faults.require(
                renewDeadline.toNanos() > retryPeriod.toNanos() * JITTER,
                "--leader-elect-renew-deadline, --leader-elect-retry-period: renewDeadline must be greater than"
                        + " retryPeriod*JitterFactor");
        for (String name : new String[] {resourceName, resourceNamespace}) {
            faults.require(
                    AgentOptions.NODE_NAME.matcher(name).matches(),
                    "--leader-elect-resource-name and -namespace: \"" + name
                            + "\"; expected lower case letters, digits, - and . (RFC 1123)");
        }
    }
}
