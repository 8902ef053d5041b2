package io.nodekeeper.agent.culprit.scan.proc;

import io.nodekeeper.agent.kernel.KernelFile;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Finds the process that listens on a unix socket: the kernel maps the socket's path to its inode, and open files map the
 * inode to a process. The search reads the open files of all processes, so it runs only when the process found before is
 * gone, and begins with those that have a runtime's name. A search that its scan gave up goes on, and the next scan has its result. Thread-safe.
 */
public final class SocketOwners {
    /**
     * Scans to skip after a search without result: about a minute, since a search reads the open files of all
     * processes.
     */
    private static final int PAUSE = 12;

    /** The names of the processes that usually listen. */
    private static final Set<String> RUNTIMES = Set.of("containerd", "crio", "dockerd", "cri-dockerd");

    private record Owner(int pid, long startTicks) {}

    private final ProcFiles files;
    private final Map<String, Owner> owners = new ConcurrentHashMap<>();
    private final Map<String, Integer> pauses = new ConcurrentHashMap<>();

    /** A search in {@code files}. */
    public SocketOwners(ProcFiles files) {
        this.files = files;
    }

    /** The pid of the process that listens on {@code socket}; empty if there is none, or if this user may not see it. */
    public Optional<Integer> of(String socket, List<ProcFiles.Stat> processes) {
        Owner known = owners.get(socket);
        if (known != null
                && processes.stream()
                        .anyMatch(stat -> stat.pid() == known.pid && stat.startTicks() == known.startTicks)) {
            return Optional.of(known.pid);
        }
        Optional<String> inode = inode(socket);
        if (inode.isEmpty()) {
            owners.remove(socket);
            pauses.remove(socket);
            return Optional.empty();
        }
        int pause = pauses.getOrDefault(inode.get(), 0);
        if (pause > 0) {
            pauses.put(inode.get(), pause - 1);
            return Optional.empty();
        }
        Optional<ProcFiles.Stat> found = processes.stream()
                .sorted(Comparator.comparing(stat -> !RUNTIMES.contains(stat.name())))
                // With socket activation, init also holds it but does not answer.
                .filter(stat -> stat.pid() != 1 && holds(stat.pid(), "socket:[" + inode.get() + "]"))
                .findFirst();
        if (found.isEmpty()) {
            // Another scan may have found it meanwhile.
            if (known != null) {
                owners.remove(socket, known);
            }
            if (!owners.containsKey(socket)) {
                pauses.put(inode.get(), PAUSE);
            }
            return Optional.empty();
        }
        pauses.clear();
        found.ifPresent(stat -> owners.put(socket, new Owner(stat.pid(), stat.startTicks())));
        return found.map(ProcFiles.Stat::pid);
    }

    /** Columns: Num RefCount Protocol Flags Type St Inode Path; the flag 00010000 marks a listening socket. */
    private Optional<String> inode(String socket) {
        if (!ProcFiles.isPath(socket)) {
            return Optional.empty();
        }
        String name = "/" + Path.of(socket).getFileName();
        // A socket has some 60 to 170 bytes, and one program may have thousands.
        return files.read(files.root().resolve("proc/net/unix"), KernelFile.LIMIT)
                .flatMap(text -> text.lines()
                        .filter(line -> line.endsWith(name))
                        .map(line -> line.strip().split("\\s+", 8))
                        .filter(column ->
                                column.length == 8 && column[3].equals("00010000") && sameFile(column[7], socket))
                        .map(column -> column[6])
                        .findFirst());
    }

    /** {@code /var/run} is often a link to {@code /run}. */
    private static boolean sameFile(String listed, String socket) {
        try {
            return listed.equals(socket)
                    || ProcFiles.isPath(listed)
                            && Path.of(listed)
                                    .toRealPath()
                                    .equals(Path.of(socket).toRealPath());
        } catch (IOException e) {
            return false;
        }
    }

    private boolean holds(int pid, String link) {
        try (DirectoryStream<Path> open =
                Files.newDirectoryStream(files.process(pid).resolve("fd"))) {
            for (Path file : open) {
                if (files.link(file).filter(link::equals).isPresent()) {
                    return true;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // It has ended, or this user may not read it.
            return false;
        }
        return false;
    }
}
