package io.nodekeeper.cli.options;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Where an API server keeps everything. */
public final class DataDirOptions implements Checked {
    @Option(
            names = "--data-dir",
            paramLabel = "DIR",
            defaultValue = "nodekeeper-data",
            description = "Where objects, certificates (pki/) and kubeconfigs live. Default: ${DEFAULT-VALUE}.")
    public Path dir = Path.of("nodekeeper-data");

    @Override
    public void check(Faults faults) {
        faults.directory("--data-dir", dir);
    }
}
