package io.nodekeeper.cli.guard;

import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.controller.guard.Blame;
import io.nodekeeper.controller.guard.Webhook;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine.Option;

/** The flag for the users whose writes the guard checks. */
public final class GuardUsers {
    /** The most users: a cluster has one node controller, under one name or, between two releases, two. */
    private static final int MOST = 16;

    @Option(
            names = "--guard-users",
            paramLabel = "NAME,...",
            split = ",",
            description = "The users under which the cluster's node controller writes. Only their writes are checked."
                    + " Default: system:serviceaccount:kube-system:node-controller and"
                    + " system:kube-controller-manager.")
    List<String> names = new ArrayList<>();

    /** The users. */
    public Set<String> names() {
        return names.isEmpty() ? Blame.USERS : Set.copyOf(new TreeSet<>(names));
    }

    void check(Faults faults) {
        names.forEach(name -> faults.require(
                Webhook.isUser(name),
                "--guard-users has \"" + (name.length() > 60 ? name.substring(0, 60) + "..." : name)
                        + "\"; expected letters, digits and : @ . _ / -, at most 253"));
        faults.require(names.size() <= MOST, "--guard-users has " + names.size() + " names; expected at most " + MOST);
    }
}
