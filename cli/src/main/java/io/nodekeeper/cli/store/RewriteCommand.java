package io.nodekeeper.cli.store;

import io.nodekeeper.cli.apiserver.EncryptionOptions;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.store.disk.StoreRepair;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The command {@code rewrite}: writes all objects again with the first key. */
@Command(
        name = "rewrite",
        description = "Writes all objects of the store in a data directory again with the first provider of"
                + " --encryption-provider-config, and removes everything that was stored in another form."
                + " After that, other keys are no longer needed. Clients list again. Stop the server first."
                + " For --store rocksdb only; rewrite objects in etcd with kubectl replace.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper apiserver rewrite --data-dir /var/lib/nodekeeper-apiserver --encryption-provider-config enc.yaml",
            "      Run this after you put a new key before the old one in that file."
        })
public final class RewriteCommand extends StoreCommand {
    @Mixin
    EncryptionOptions encryption = new EncryptionOptions();

    /** The command, which reports to {@code out}. */
    public RewriteCommand(PrintWriter out) {
        super(
                out,
                "write the objects through the API server: \"kubectl get secrets -A -o json | kubectl replace -f -\"");
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        faults.require(encryption.file.isPresent(), "--encryption-provider-config is missing");
        encryption.check(faults);
    }

    @Override
    boolean writes() {
        return true;
    }

    @Override
    int run(Path directory, PrintWriter out) throws IOException {
        int objects = StoreRepair.rewrite(directory, encryption.transformer());
        out.println("wrote " + directory + " again, objects: " + objects);
        return CommandRunner.OK;
    }
}
