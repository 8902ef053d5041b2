package io.nodekeeper.cli.store;

import io.nodekeeper.cli.apiserver.ApiServerOptions;
import io.nodekeeper.cli.apiserver.OpenStore;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.DataDirOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * A command for the store in a data directory ({@code --store rocksdb}). For other stores it fails with a message that
 * names the tool to use instead.
 */
abstract class StoreCommand extends NodekeeperCommand {
    @Mixin
    DataDirOptions data = new DataDirOptions();

    /** Hidden. Users copy the flags of their server, and then get a message that says why these do not fit. */
    @Option(names = "--store", hidden = true, paramLabel = "rocksdb|memory|etcd")
    ApiServerOptions.Store kind = ApiServerOptions.Store.rocksdb;

    @Option(names = "--etcd-servers", hidden = true, split = ",", paramLabel = "URL")
    List<String> etcdServers = List.of();

    private final PrintWriter out;
    private final String forEtcd;

    /**
     * Reports to {@code out}.
     *
     * @param forEtcd the tool for the same purpose with objects in etcd
     */
    StoreCommand(PrintWriter out, String forEtcd) {
        this.out = out;
        this.forEtcd = forEtcd;
    }

    /** Works on the database in the directory {@code store}, and returns the exit code. */
    abstract int run(Path store, PrintWriter out) throws IOException;

    /** Whether the command writes a store, which the server must be able to open. */
    boolean writes() {
        return false;
    }

    @Override
    public final int run() throws IOException {
        int code = run(OpenStore.directory(data.dir), out);
        out.flush();
        return code;
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        data.check(faults);
        if (kind != ApiServerOptions.Store.rocksdb || !etcdServers.isEmpty()) {
            faults.require(
                    false,
                    "this command works on a store in a --data-dir only (--store rocksdb); "
                            + (kind == ApiServerOptions.Store.memory
                                    ? "a store in memory is lost when its server stops"
                                    : "for objects in etcd, " + forEtcd));
            return;
        }
        checkStore(faults, OpenStore.directory(data.dir));
        if (writes() && Files.exists(data.dir)) {
            StoreOwner.fault(data.dir).ifPresent(fault -> faults.require(false, fault));
        }
    }

    /** Checks that there is a database in the directory {@code store}. */
    void checkStore(Faults faults, Path store) {
        boolean server = Files.isDirectory(data.dir.resolve("pki"));
        faults.require(
                Files.isDirectory(store),
                store + " does not exist; expected the --data-dir of a server with a store on disk"
                        + (server ? ". If that server has --store etcd, " + forEtcd : ""));
    }
}
