package io.nodekeeper.cli.options;

import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The flag for the directory of an API server's files. */
public final class DataDirOptions implements Checked {
    @Option(
            names = "--data-dir",
            paramLabel = "DIR",
            defaultValue = "nodekeeper-data",
            description =
                    "The directory for objects, certificates (pki/) and kubeconfigs. Default:" + " ${DEFAULT-VALUE}.")
    public Path dir = Path.of("nodekeeper-data");

    @Override
    public void check(Faults faults) {
        faults.directory("--data-dir", dir);
    }
}
