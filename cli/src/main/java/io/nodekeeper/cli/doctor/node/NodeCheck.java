package io.nodekeeper.cli.doctor.node;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Checks one thing about the node. */
interface NodeCheck {

    /** What it checks, such as {@code memory}. */
    String name();

    /** The longest time that it may take; a person waits. */
    default Duration deadline() {
        return Duration.ofSeconds(3);
    }

    /** Starts the check. The result may fail: then the check could not be made. Does not block. */
    CompletableFuture<CheckResult> run();
}
