package io.nodekeeper.cli.store;

import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.client.files.OwnerOnly;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.disk.StoreReading;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The command {@code snapshot}: saves all objects of a data directory to a file. */
@Command(
        name = "snapshot",
        description = "Saves all objects to a file; the server may be running. The file has every change"
                + " acknowledged before the command started.",
        footerHeading = "%nExamples:%n",
        footer = {"  nodekeeper apiserver snapshot --data-dir /var/lib/nodekeeper-apiserver objects.snapshot"})
public final class SnapshotCommand extends StoreCommand {
    @Parameters(
            paramLabel = "FILE",
            description = "The file to write; an existing file is replaced. It contains" + " Secrets.")
    Path file = Path.of("");

    /** The command, which reports its progress to {@code progress}. */
    public SnapshotCommand(PrintWriter progress) {
        super(progress, "use \"etcdctl snapshot save\"");
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        faults.writable("FILE", file);
        OwnerOnly.outputFault(file).ifPresent(fault -> faults.require(false, fault));
    }

    @Override
    int run(Path store, PrintWriter progress) throws IOException {
        progress.println("reading " + store);
        try (StoreReading reading = StoreReading.open(store)) {
            Journal.Recovered kept = reading.recovered();
            progress.println("writing " + kept.entries().size() + " objects as of revision " + kept.revision());
            SnapshotFile.write(file, kept);
        }
        progress.println("wrote " + file + ", " + Files.size(file) + " bytes");
        return CommandRunner.OK;
    }
}
