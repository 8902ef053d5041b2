package io.nodekeeper.cli.store;

import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.store.disk.StoreCheck;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Command;

/** The command {@code check}: checks whether the store in a data directory is complete. */
@Command(
        name = "check",
        description = "Reads every object of the store in a data directory and reports acknowledged changes that are"
                + " missing. Changes nothing. Needs no key for encrypted objects. Stop the server first: a"
                + " store that is being written looks damaged.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:The store is complete, or the next start repairs it by removing a group of changes that was never"
                    + " acknowledged.",
            "1:The check failed.",
            "2:The flags are wrong.",
            "3:The command had too little memory, which says nothing of the store.",
            "4:The store is damaged: a server refuses to start with it."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper apiserver check --data-dir /var/lib/nodekeeper-apiserver",
            "      If the store is damaged: \"restore\" a snapshot into a new directory, or \"repair\" it to keep what",
            "      can be read."
        })
public final class CheckCommand extends StoreCommand {
    /** The exit code for a damaged store: none with which Java ends, as it does with 3 if it has too little memory. */
    static final int DAMAGED = 4;

    /** The command, which reports to {@code out}. */
    public CheckCommand(PrintWriter out) {
        super(out, "etcd checks its data itself; \"etcdctl endpoint hashkv\" compares its members");
    }

    @Override
    int run(Path directory, PrintWriter out) {
        StoreCheck check = StoreCheck.of(directory);
        out.println(directory + ": " + words(check.state()));
        if (!check.problem().isEmpty()) {
            out.println("problem: " + check.problem());
        }
        if (check.state() != StoreCheck.State.EMPTY) {
            out.println("readable: up to revision " + check.revision() + ", objects: " + check.objects());
        }
        if (check.known() > check.revision()) {
            out.println("lost: revisions " + (check.revision() + 1) + " to " + check.known());
            check.lost().forEach((revision, key) -> out.println("  revision " + revision + " of " + key));
        }
        return check.state() == StoreCheck.State.DAMAGED ? DAMAGED : CommandRunner.OK;
    }

    private static String words(StoreCheck.State state) {
        return switch (state) {
            case EMPTY -> "empty";
            case WHOLE -> "whole";
            case TORN -> "all acknowledged changes are there; the next start cuts off a group that a crash interrupted";
            case DAMAGED -> "damaged";
        };
    }
}
