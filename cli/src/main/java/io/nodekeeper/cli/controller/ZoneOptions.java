package io.nodekeeper.cli.controller;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.controller.config.ZoneConfig;
import picocli.CommandLine.Option;

/** The flags for how fast pods are evicted from failed nodes. Names and defaults are kube-controller-manager's. */
final class ZoneOptions implements Checked {
    @Option(
            names = "--node-eviction-rate",
            paramLabel = "N",
            defaultValue = "0.1",
            description = "How many nodes per second get a NoExecute taint in a healthy zone. Default:"
                    + " ${DEFAULT-VALUE}.")
    float evictionRate = 0.1f;

    @Option(
            names = "--secondary-node-eviction-rate",
            paramLabel = "N",
            defaultValue = "0.01",
            description = "The same in a large zone that is partly disrupted; in a small one no node gets the taint."
                    + " Default: ${DEFAULT-VALUE}.")
    float secondaryEvictionRate = 0.01f;

    @Option(
            names = "--large-cluster-size-threshold",
            paramLabel = "N",
            defaultValue = "50",
            description = "A zone of more nodes than this is large. Default: ${DEFAULT-VALUE}.")
    int largeClusterSize = 50;

    @Option(
            names = "--unhealthy-zone-threshold",
            paramLabel = "SHARE",
            defaultValue = "0.55",
            description = "The share of nodes that are not ready at which a zone counts as partly disrupted, if"
                    + " there are at least three such nodes. Default: ${DEFAULT-VALUE}.")
    float unhealthyThreshold = 0.55f;

    @Option(
            names = "--terminated-pod-gc-threshold",
            paramLabel = "N",
            defaultValue = "12500",
            description = "How many terminated pods may exist before the oldest are deleted; 0 or less for no limit."
                    + " Default: ${DEFAULT-VALUE}.")
    int terminatedPodThreshold = 12_500;

    /** The controller's configuration of zones. */
    ZoneConfig config() {
        return new ZoneConfig(evictionRate, secondaryEvictionRate, largeClusterSize, unhealthyThreshold);
    }

    @Override
    public void check(Faults faults) {
        faults.within("--node-eviction-rate", evictionRate, 0, 1_000_000);
        faults.within("--secondary-node-eviction-rate", secondaryEvictionRate, 0, 1_000_000);
        faults.within("--large-cluster-size-threshold", largeClusterSize, 0, Integer.MAX_VALUE);
        faults.require(
                unhealthyThreshold > 0 && unhealthyThreshold <= 1,
                "--unhealthy-zone-threshold is " + unhealthyThreshold + "; expected more than 0, at most 1");
    }
}
