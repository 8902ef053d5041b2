package io.nodekeeper.cli;

import io.nodekeeper.store.StoreRepair;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Writes all objects again with the first key. */
@Command(
        name = "rewrite",
        description =
                "Writes all objects of the store in a data directory again as --encryption-provider-config says, and"
                        + " removes everything that was stored in another form. After that, keys other than the first are no longer"
                        + " needed. Clients list again."
                        + " The server must be stopped.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper apiserver rewrite --data-dir /var/lib/nodekeeper --encryption-provider-config encryption.yaml",
            "      After a new key was put in front of the old one in that file."
        })
final class RewriteCommand extends NodekeeperCommand {
    @Mixin
    DataDirOptions data = new DataDirOptions();

    @Mixin
    EncryptionOptions encryption = new EncryptionOptions();

    private final PrintWriter out;

    /** Reports to {@code out}. */
    RewriteCommand(PrintWriter out) {
        this.out = out;
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        data.check(faults);
        data.requireStore(faults);
        faults.require(encryption.file.isPresent(), "--encryption-provider-config is missing");
        encryption.check(faults);
    }

    @Override
    int run() throws IOException {
        Path directory = OpenStore.directory(data.dir);
        int objects = StoreRepair.rewrite(directory, encryption.transformer());
        out.println("wrote " + directory + " again, objects: " + objects);
        out.flush();
        return CommandRunner.OK;
    }
}
