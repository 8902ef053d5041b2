package io.nodekeeper.agent.culprit.repair;

import io.nodekeeper.agent.culprit.scan.ProcessRef;
import java.io.IOException;
import java.util.Optional;

/** What remedies need of the machine: signals, and the state of processes and cgroups. Each method may block briefly. */
public interface Host {

    /** Whether exactly this process lives and still runs the same command. */
    boolean lives(ProcessRef process);

    /** The kernel's letter for the state of exactly this process; empty if it is gone. */
    Optional<Character> state(ProcessRef process);

    /** Sends a signal to one process. */
    void signal(int pid, int signal) throws IOException;

    /** The text of a kernel's file; empty if it cannot be read. */
    Optional<String> read(String file);

    /** Writes to a kernel's file, which must exist. */
    void write(String file, String text) throws IOException;
}
