package io.nodekeeper.agent.culprit.scan.proc;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Which processes see the host's processes and mounts, as a runtime, its shims and its commands do: containers have at least
 * mounts of their own. Serves one scan.
 */
public final class HostNamespaces {
    private final ProcFiles files;
    private final Set<String> known = new HashSet<>();
    private boolean read;

    /** The namespaces of init and of this agent, which are read when they are needed first. */
    public HostNamespaces(ProcFiles files) {
        this.files = files;
    }

    /** A runtime may have mounts of its own, which its shims share. */
    public void add(int runtime) {
        of(Integer.toString(runtime)).ifPresent(known::add);
    }

    /** Whether a process is in one of them; false if this user may not see that. */
    public boolean has(int pid) {
        if (!read) {
            read = true;
            of("1").ifPresent(known::add);
            of("self").ifPresent(known::add);
        }
        return of(Integer.toString(pid)).filter(known::contains).isPresent();
    }

    private Optional<String> of(String process) {
        Path directory = files.root().resolve("proc").resolve(process).resolve("ns");
        return files.link(directory.resolve("pid"))
                .flatMap(pid -> files.link(directory.resolve("mnt")).map(mounts -> pid + " " + mounts));
    }
}
