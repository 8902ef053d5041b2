package io.nodekeeper.cli.store;

import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.store.disk.StoreRepair;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Command;

/** Makes a store from what can be read of a damaged one. */
@Command(
        name = "repair",
        description =
                "Makes a store from what can be read of a damaged one, and says what is lost. The damaged files are"
                        + " kept beside it, as store.damaged-N. Revisions go on far beyond those that were lost, so that clients"
                        + " list again. A store that is not damaged is left as it is. The server must be stopped.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:The store was not damaged, or is repaired.",
            "1:The store cannot be repaired, or is in use; nothing was changed.",
            "2:The flags are wrong."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper apiserver check --data-dir /var/lib/nodekeeper",
            "      First: tells what would be lost. A recent snapshot may have more; see \"restore\".",
            "  nodekeeper apiserver repair --data-dir /var/lib/nodekeeper"
        })
public final class RepairCommand extends StoreCommand {
    /** Reports to {@code out}. */
    public RepairCommand(PrintWriter out) {
        super(out, "replace the damaged member, or restore a snapshot with \"etcdutl snapshot restore\"");
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
