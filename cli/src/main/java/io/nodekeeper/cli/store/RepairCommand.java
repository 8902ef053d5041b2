package io.nodekeeper.cli.store;

import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.store.disk.StoreRepair;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Command;

/** The command {@code repair}: creates a store from the readable part of a damaged one. */
@Command(
        name = "repair",
        description = "Creates a store from the readable part of a damaged one, and reports what is lost. Keeps the"
                + " damaged files in the same directory as store.damaged-N. Revisions continue far beyond"
                + " the lost ones, so that clients list again. Does not change a store that is not damaged."
                + " Stop the server first.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:The store was not damaged, or has been repaired.",
            "1:The store cannot be repaired, or is in use; nothing has changed.",
            "2:The flags are wrong."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper apiserver check --data-dir /var/lib/nodekeeper-apiserver",
            "      Run this first: it reports what would be lost. A recent snapshot may have more; see \"restore\".",
            "  nodekeeper apiserver repair --data-dir /var/lib/nodekeeper-apiserver"
        })
public final class RepairCommand extends StoreCommand {
    /** The command, which reports to {@code out}. */
    public RepairCommand(PrintWriter out) {
        super(out, "replace the damaged member, or restore a snapshot with \"etcdutl snapshot restore\"");
    }

    @Override
    boolean writes() {
        return true;
    }

    @Override
    int run(Path directory, PrintWriter out) {
        StoreRepair.Report report = StoreRepair.repair(directory);
        if (report.aside().isEmpty()) {
            out.println(directory + " is not damaged and was left as it is");
        } else {
            out.println("problem: " + report.check().problem());
            report.losses().forEach(loss -> out.println("lost: " + loss));
            out.println("repaired " + directory + ", objects: " + report.objects());
            out.println("the damaged files are kept in " + report.aside().get());
        }
        return CommandRunner.OK;
    }
}
