package io.nodekeeper.agent.culprit.scan;

import io.nodekeeper.agent.host.UnixDiag;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds the process at the other end of a unix socket; the list of sockets is read when the first question is asked.
 * The kernel lists the sockets of this agent's network namespace only: those of a CNI plugin or a command of runc, which
 * run in the runtime's own namespace, if the agent runs in the host's, too. Only clients are followed: a server waits
 * for its clients all the time. Not thread-safe.
 */
final class SocketPeers {
    /** Lists the machine's unix sockets. */
    @FunctionalInterface
    interface Table {
        List<UnixDiag.Socket> sockets() throws IOException;
    }

    /**
     * Daemons to which programs keep connections open, or that only forward: the journal, the manager's notifications,
     * the system log, the name service cache and D-Bus. That a program is connected to one of them says nothing.
     */
    private static final List<String> ORDINARY = List.of(
            "/run/systemd/", "/dev/log", "/run/dbus/", "/var/run/dbus/", "/run/nscd/", "/var/run/nscd/", "@/org/");

    private final Table table;
    private final OpenEnds ends;
    private final Map<Long, UnixDiag.Socket> sockets = new HashMap<>();
    private final Map<Long, UnixDiag.Socket> listeners = new HashMap<>();
    private boolean read;

    SocketPeers(Table table, OpenEnds ends) {
        this.table = table;
        this.ends = ends;
    }

    /**
     * What a thread waits for that is blocked in a system call on {@code link}; empty if it is a server that waits for
     * clients.
     */
    Optional<Wait.ForSocket> blocked(int pid, String link) {
        readAll();
        UnixDiag.Socket own = sockets.get(inode(link));
        if (own == null) {
            return Optional.of(unseen(link));
        }
        if (own.listens() || !own.name().isEmpty() || own.unread() > 0) {
            return Optional.empty();
        }
        if (own.peer() == 0 && !listeners.containsKey(own.inode())) {
            // connect(2) blocks while the server's queue is full, and the kernel does not show which server it is.
            List<UnixDiag.Socket> full = sockets.values().stream()
                    .filter(server -> server.listens() && server.unread() > server.most())
                    .toList();
            return Optional.of(
                    full.size() == 1
                            ? wait(pid, link, full.getFirst(), true, Wait.Progress.NOT_ACCEPTED)
                            : unseen(link));
        }
        return connection(pid, link, own, true);
    }

    /** The connections to servers that a process has open, other than as its input and output. */
    List<Wait.ForSocket> open(int pid) {
        return ends.sockets(pid).stream()
                .flatMap(link -> {
                    readAll();
                    UnixDiag.Socket own = sockets.get(inode(link));
                    return own == null
                                    || own.listens()
                                    || !own.name().isEmpty()
                                    || own.unread() > 0
                                    || own.peer() == 0 && !listeners.containsKey(own.inode())
                            ? Stream.empty()
                            : connection(pid, link, own, false).stream();
                })
                .filter(wait -> !wait.peer().isEmpty() && ORDINARY.stream().noneMatch(wait.peer()::startsWith))
                .toList();
    }

    private Optional<Wait.ForSocket> connection(int pid, String link, UnixDiag.Socket own, boolean blocked) {
        UnixDiag.Socket listener = listeners.get(own.inode());
        if (listener != null) {
            return Optional.of(wait(pid, link, listener, blocked, Wait.Progress.NOT_ACCEPTED));
        }
        UnixDiag.Socket peer = sockets.get(own.peer());
        return Optional.of(
                peer == null
                        ? unseen(link)
                        : wait(pid, link, peer, blocked, peer.unread() > 0 ? Wait.Progress.NOT_READ : Wait.Progress.READ));
    }

    private Wait.ForSocket wait(int pid, String link, UnixDiag.Socket peer, boolean blocked, Wait.Progress progress) {
        List<Integer> holders = ends.holders("socket:[" + peer.inode() + "]").stream()
                .filter(holder -> holder != pid)
                .toList();
        // With socket activation, init also holds the listening socket but does not answer.
        List<Integer> servers =
                holders.stream().filter(holder -> holder != 1 || holders.size() == 1).toList();
        return new Wait.ForSocket(link, peer.name(), blocked, progress, servers);
    }

    private static Wait.ForSocket unseen(String link) {
        return new Wait.ForSocket(link, "", true, Wait.Progress.UNSEEN, List.of());
    }

    private void readAll() {
        if (read) {
            return;
        }
        read = true;
        try {
            for (UnixDiag.Socket socket : table.sockets()) {
                sockets.put(socket.inode(), socket);
                socket.pending().forEach(client -> listeners.put(client, socket));
            }
        } catch (IOException e) {
            // Without the list each socket is unseen, which the evidence says.
            sockets.clear();
        }
    }

    private static long inode(String link) {
        String number = link.substring(link.indexOf('[') + 1, link.length() - 1);
        return number.matches("\\d{1,18}") ? Long.parseLong(number) : -1;
    }
}
