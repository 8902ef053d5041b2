package io.nodekeeper.cli.hollow;

import io.nodekeeper.api.Names;
import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.options.HeartbeatOptions;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The flags of hollow nodes. */
final class HollowOptions implements Checked {
    @Option(
            names = "--count",
            paramLabel = "N",
            defaultValue = "100",
            description = "How many nodes to run. Default: ${DEFAULT-VALUE}.")
    int count = 100;

    @Option(
            names = "--prefix",
            paramLabel = "P",
            defaultValue = "hollow-",
            description = "The prefix of the nodes' names; a number follows, from 0. Default: ${DEFAULT-VALUE}.")
    String prefix = "hollow-";

    @Mixin
    HeartbeatOptions heartbeat = new HeartbeatOptions();

    @Override
    public void check(Faults faults) {
        faults.within("--count", count, 1, 1_000_000);
        faults.require(
                Names.subdomainFault(prefix + count).isEmpty(),
                "--prefix is \"" + prefix + "\"; expected the beginning of a node name, as in hollow-, at most 253"
                        + " characters with the number");
        heartbeat.check(faults);
    }
}
