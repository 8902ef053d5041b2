package io.nodekeeper.cli;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Where an API server keeps everything. */
final class DataDirOptions implements Checked {
    @Option(
            names = "--data-dir",
            paramLabel = "DIR",
            defaultValue = "nodekeeper-data",
            description = "Where objects, certificates (pki/) and kubeconfigs live. Default: ${DEFAULT-VALUE}.")
    Path dir = Path.of("nodekeeper-data");

    @Override
    public void check(Faults faults) {
        faults.directory("--data-dir", dir);
    }
}
