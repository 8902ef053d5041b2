package io.nodekeeper.cli.store;

import io.nodekeeper.cli.apiserver.OpenStore;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.client.files.OwnerOnly;
import io.nodekeeper.store.disk.StoreRestore;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The command {@code restore}: creates the store of a data directory from a snapshot. */
@Command(
        name = "restore",
        description = "Creates the store of a data directory from a snapshot; the directory must not have a store."
                + " Revisions continue far beyond those in the snapshot, so that clients with later ones"
                + " list again.",
        footerHeading = "%nExamples:%n",
        footer = {"  nodekeeper apiserver restore --data-dir /var/lib/nodekeeper-apiserver objects.snapshot"})
public final class RestoreCommand extends StoreCommand {
    /**
     * More revisions than are written from a snapshot to its restore, in a hundred days of 1,000 a second. A client that saw a later revision
     * would miss all changes until the store reaches it. etcd recommends a tenth of that.
     */
    static final long JUMP = 10_000_000_000L;

    /** The most revisions a second, for which a store counts on. */
    private static final long PER_SECOND = 1_000;

    @Parameters(paramLabel = "FILE", description = "The snapshot.")
    Path file = Path.of("");

    private final Instant now;

    /** The command, which reports its progress to {@code progress}. */
    public RestoreCommand(Instant now, PrintWriter progress) {
        super(progress, "use \"etcdutl snapshot restore\"");
        this.now = now;
    }

    /**
     * How far revisions jump: also beyond those of an earlier restore of the same snapshot, and of what was written since, as long as that
     * were fewer than a thousand a second since 1970.
     */
    private long jump(long revision) {
        return Math.max(JUMP, now.getEpochSecond() * PER_SECOND - revision);
    }

    @Override
    void checkStore(Faults faults, Path store) {
        faults.require(!Files.exists(store), store + " exists; expected a --data-dir without a store");
        faults.readable("FILE", Optional.of(file));
    }

    @Override
    boolean writes() {
        return true;
    }

    @Override
    int run(Path store, PrintWriter progress) throws IOException {
        progress.println("reading " + file);
        // Twice: damage is found before anything is written, and the objects need not be in memory together.
        SnapshotFile.Content content = SnapshotFile.read(file, checked -> {});
        progress.println("restoring " + content.objects() + " objects as of revision " + content.revision());
        OwnerOnly.directory(data.dir, OpenStore.PARTS);
        StoreRestore.restore(store, content.revision(), jump(content.revision()), taker -> {
            if (!SnapshotFile.read(file, taker).equals(content)) {
                throw new IOException(file + " changed while it was read");
            }
        });
        progress.println("restored " + store);
        return CommandRunner.OK;
    }
}
