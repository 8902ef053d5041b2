package io.nodekeeper.agent.culprit.repair;

import io.nodekeeper.agent.culprit.Signals;
import io.nodekeeper.agent.culprit.scan.LinuxProcesses;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * This Linux machine. Thread-safe.
 *
 * @param processes reads the process table
 */
public record LinuxHost(LinuxProcesses processes) implements Host {
    @Override
    public boolean lives(ProcessRef process) {
        return processes.lives(process);
    }

    @Override
    public Optional<Character> state(ProcessRef process) {
        return processes.state(process);
    }

    @Override
    public void signal(int pid, int signal) throws IOException {
        Signals.send(pid, signal);
    }

    @Override
    public Optional<String> read(String file) {
        return processes.read(Path.of(file));
    }

    @Override
    public void write(String file, String text) throws IOException {
        Files.writeString(Path.of(file), text, StandardOpenOption.WRITE);
    }
}
