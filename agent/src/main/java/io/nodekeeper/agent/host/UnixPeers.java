package io.nodekeeper.agent.host;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The other ends of unix sockets, by a list of all sockets. Only clients are followed: a server waits for its clients
 * all the time. Immutable.
 */
public final class UnixPeers {
    /**
     * The server's end of a client's connection. Immutable.
     *
     * @param inode of the accepted socket, or of the listening one if the connection is not accepted
     * @param path the name of the server's socket; empty if it has none, as with socketpair(2)
     * @param accepted whether the server has accepted the connection
     * @param unread whether it has not read all that the client sent
     */
    public record Peer(long inode, String path, boolean accepted, boolean unread) {}

    /** What is known of the other end of a socket. */
    public sealed interface Other {
        /** A server has it. */
        record Server(Peer peer) implements Other {}

        /** The socket waits for no server: it is itself a server's, or has received something. */
        record None() implements Other {}

        /** It is not listed: the socket or its peer is of another kind or in another network namespace. */
        record Unseen() implements Other {}
    }

    private final Map<Long, UnixDiag.Socket> sockets = new HashMap<>();
    private final Map<Long, UnixDiag.Socket> listeners = new HashMap<>();

    /** The peers in a list of sockets. */
    public UnixPeers(List<UnixDiag.Socket> all) {
        for (UnixDiag.Socket socket : all) {
            sockets.put(socket.inode(), socket);
            socket.pending().forEach(client -> listeners.put(client, socket));
        }
    }

    /** The other end of the socket with that inode, on which a thread is blocked. */
    public Other ofBlocked(long inode) {
        UnixDiag.Socket own = sockets.get(inode);
        if (own == null || own.peer() != 0 || listeners.containsKey(inode) || own.listens() || isServer(own)) {
            return of(inode);
        }
        // connect(2) blocks while the server's queue is full, and the kernel does not show which server it is.
        List<UnixDiag.Socket> full = sockets.values().stream()
                .filter(server -> server.listens() && server.unread() > server.most())
                .toList();
        return full.size() == 1 ? waiting(full.getFirst()) : new Other.Unseen();
    }

    /** The other end of the socket with that inode. */
    public Other of(long inode) {
        UnixDiag.Socket own = sockets.get(inode);
        if (own == null) {
            return new Other.Unseen();
        }
        if (own.listens() || isServer(own) || own.unread() > 0) {
            return new Other.None();
        }
        UnixDiag.Socket listener = listeners.get(inode);
        if (listener != null) {
            return waiting(listener);
        }
        return Optional.ofNullable(sockets.get(own.peer()))
                .<Other>map(peer -> new Other.Server(new Peer(peer.inode(), peer.name(), true, peer.unread() > 0)))
                .orElseGet(Other.Unseen::new);
    }

    private static Other waiting(UnixDiag.Socket listener) {
        return new Other.Server(new Peer(listener.inode(), listener.name(), false, true));
    }

    /** A client's socket usually has no name; one that was accepted has the name at which its server listens. */
    private static boolean isServer(UnixDiag.Socket socket) {
        return !socket.name().isEmpty();
    }
}
