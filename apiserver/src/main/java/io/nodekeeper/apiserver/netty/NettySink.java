package io.nodekeeper.apiserver.netty;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import io.nodekeeper.apiserver.request.ResponseChunks;
import io.nodekeeper.apiserver.watches.WatchPace;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a watch to its reader. If there are many changes, their lines wait up to 20 ms for each other ({@link WatchPace}). The
 * channel gets only as much as it accepts immediately; the rest waits here as references to bytes that all watchers share. A reader
 * that leaves too much unread is disconnected, so that it costs the server a bounded amount of memory and other readers nothing.
 * Thread-safe.
 */
final class NettySink implements UnreadEvents.Watch, Outbox.Target {
    private static final Logger log = LoggerFactory.getLogger(NettySink.class);

    /**
     * The most unread bytes of events of a slow reader: about 1,000 lines of 1 to 5 KB, or a minute of a busy cluster.
     * Twice as much would double the memory of all slow readers; half would disconnect readers that pause for a garbage
     * collection.
     */
    static final int UNREAD = 4 << 20;

    /** The most waiting bytes in one chunk or frame: four TLS records, after which the per-chunk cost is small. */
    private static final int PART = 64 << 10;

    /**
     * How long a reader may read nothing while data waits: Kubernetes' limit for a request. With HTTP/2, unread data of
     * one stream fills the window of its connection and blocks the other streams.
     */
    private static final int STALL_SECONDS = 60;

    /** The item that marks the end of the response. */
    private static final Object END = new Object();

    /** A large part that is created while it is read. Confined to the event loop, except {@link #chunks}. */
    private static final class Source {
        private final ResponseChunks chunks;
        private List<byte[]> ready = List.of();
        private boolean fetching;
        private boolean ended;
        /** The write of the last chunk so far. */
        private ChannelFuture written;

        private Source(ResponseChunks chunks, ChannelFuture written) {
            this.chunks = chunks;
            this.written = written;
        }
    }

    /** Initial data that the reader requested, which does not count as unread. */
    private record First(byte[] bytes) {}

    private final ChannelHandlerContext context;
    private final ServerContext serverContext;
    private final Outbox outbox;
    private final Framing framing;
    private final String user;
    private final Runnable afterEnd;
    /** The bytes of the user's share that its chunks use. */
    private final AtomicLong held = new AtomicLong();

    private final List<Runnable> onClose = new ArrayList<>();
    private boolean closed;

    // Guarded by the lock of the outbox.
    private long unread;
    private boolean cut;

    // Confined to the event loop.
    private final ArrayDeque<Object> waiting = new ArrayDeque<>();
    private boolean touched;
    private final WatchPace pace;
    /** Lines that arrived since the last {@link #drain}. */
    private int arrived;
    /** Their bytes, and those of the lines that wait for the next block. */
    private long gathered;
    /** Whether something waits that must not wait for the next block. */
    private boolean urgent;

    private @Nullable Future<?> block;
    /** The number of written parts, which distinguishes a slow reader from a stopped one. */
    private long progress;

    private @Nullable Future<?> stall;

    /**
     * @param user whose share of the memory for unread responses it takes
     * @param afterEnd runs on the event loop after the response ended without an error
     */
    NettySink(
            ChannelHandlerContext context,
            ServerContext serverContext,
            Framing framing,
            String user,
            Runnable afterEnd) {
        this.context = context;
        this.serverContext = serverContext;
        this.outbox = serverContext.outbox(context.executor());
        this.framing = framing;
        this.user = user;
        this.afterEnd = afterEnd;
        this.pace = new WatchPace(now());
    }

    private long now() {
        return context.executor().ticker().nanoTime();
    }

    @Override
    public void writeFirst(byte[] bytes) {
        outbox.add(this, new First(bytes));
    }

    /**
     * Its chunks use {@code bytes} more of the user's share, which are taken already. All are given back at the end of the chunks or of the
     * response, whichever is first: a watch goes on for hours after its chunks.
     */
    void holds(long bytes) {
        held.addAndGet(bytes);
        onClose(this::giveBack);
    }

    private void giveBack() {
        long bytes = held.getAndSet(0);
        if (bytes > 0) {
            serverContext.answers.giveBack(user, bytes);
        }
    }

    /** The memory that {@code chunks} use until they are written: one part waits while the next one is made. */
    static long needed(ResponseChunks chunks) {
        return chunks.held() + 2L * ResponseChunks.SIZE;
    }

    @Override
    public void writeFirst(ResponseChunks chunks) {
        long missing = needed(chunks) - held.get();
        if (missing > 0) {
            if (!serverContext.answers.take(user, missing)) {
                log.warn(
                        "disconnecting {}: {} has no share left of the memory for unread responses",
                        Peer.address(context.channel()),
                        user);
                outbox.add(this, Outbox.CUT);
                return;
            }
            holds(missing);
        }
        outbox.add(this, new Source(chunks, context.newSucceededFuture()));
    }

    @Override
    public void inTurn(Runnable work) {
        serverContext.pieces.resume(user, () -> {
            if (isClosed()) {
                return;
            }
            try {
                work.run();
            } catch (RuntimeException e) {
                failed(e);
            }
        });
    }

    private void failed(RuntimeException why) {
        log.warn("a response to {} failed: {}", Peer.address(context.channel()), why.toString());
        context.executor().execute(this::disconnect);
    }

    @Override
    public void write(byte[] bytes) {
        outbox.add(this, bytes);
    }

    @Override
    public void write(List<byte[]> parts) {
        outbox.addAll(this, parts);
    }

    @Override
    public void end() {
        outbox.add(this, END);
    }

    @Override
    public boolean count(Object item) {
        if (item instanceof byte[] line && !cut) {
            cut = unread + line.length > UNREAD;
            if (!cut) {
                unread += line.length;
                if (serverContext.unread.hold(line)) {
                    // Not here, because it takes the locks of all outboxes.
                    context.executor().execute(serverContext.unread::shed);
                }
            }
        }
        return !cut;
    }

    @Override
    public void uncount(long news) {
        unread -= news;
    }

    @Override
    public long counted() {
        return unread;
    }

    @Override
    public boolean queue(Object item) {
        if (isClosed()) {
            if (item instanceof byte[] line) {
                taken(List.of(line));
            }
            return false;
        }
        if (item == Outbox.CUT) {
            cutOff();
            return false;
        }
        waiting.add(item);
        if (item instanceof byte[] line) {
            arrived++;
            gathered += line.length;
        } else {
            urgent = true;
        }
        boolean first = !touched;
        touched = true;
        return first;
    }

    @Override
    public void drain() {
        touched = false;
        long wait = pace.arrived(arrived, now());
        arrived = 0;
        if (wait == 0 || urgent || gathered >= PART) {
            write();
        } else if (block == null) {
            block = context.executor().schedule(() -> write(), wait, TimeUnit.NANOSECONDS);
        }
    }

    /** Writes what waits, as far as the channel accepts it. Called on the event loop. */
    void write() {
        if (block != null) {
            block.cancel(false);
            block = null;
        }
        gathered = 0;
        urgent = false;
        int written = 0;
        boolean wrote = false;
        while (!waiting.isEmpty() && context.channel().isWritable()) {
            if (waiting.peek() == END) {
                finish();
                break;
            }
            if (waiting.peek() instanceof Source source) {
                if (source.ready.isEmpty()) {
                    fetch(source);
                    if (source.ended) {
                        waiting.remove();
                        continue;
                    }
                    break;
                }
                // An empty chunk is progress, too: the reader has nothing to read.
                progress++;
                if (source.ready != ResponseChunks.NOTHING_YET) {
                    source.written = framing.write(context, source.ready);
                    wrote = true;
                }
                source.ready = List.of();
                // The next chunk is created while this one is sent.
                fetch(source);
                continue;
            }
            List<byte[]> part = new ArrayList<>();
            List<byte[]> lines = new ArrayList<>();
            int size = 0;
            while (size < PART && !waiting.isEmpty() && waiting.peek() != END && !(waiting.peek() instanceof Source)) {
                Object item = waiting.remove();
                byte[] bytes;
                if (item instanceof First first) {
                    bytes = first.bytes;
                } else {
                    bytes = (byte[]) item;
                    lines.add(bytes);
                }
                part.add(bytes);
                size += bytes.length;
            }
            // They use memory until the socket has taken them.
            framing.write(context, part).addListener(done -> taken(lines));
            written += lines.size();
            progress++;
            wrote = true;
        }
        if (wrote) {
            context.flush();
            pace.written(now());
        }
        if (written > 0) {
            serverContext.server.metrics().watchWritten(written);
        }
        if (!waiting.isEmpty() && stall == null) {
            expectProgress();
        }
    }

    /** These lines need no memory of this watch any longer. */
    private void taken(List<byte[]> lines) {
        if (!lines.isEmpty()) {
            outbox.taken(this, lines.stream().mapToLong(line -> line.length).sum());
            serverContext.unread.release(lines);
        }
    }

    /** What waits is not written. */
    private void drop() {
        taken(waiting.stream()
                .filter(byte[].class::isInstance)
                .map(byte[].class::cast)
                .toList());
        waiting.clear();
    }

    /** Requests the next chunk in the user's turn, unless a request is in progress or there are no more chunks. */
    private void fetch(Source source) {
        if (source.fetching || source.ended || isClosed()) {
            return;
        }
        source.fetching = true;
        serverContext.pieces.resume(user, () -> make(source));
    }

    /** Produces a chunk. Runs on a worker. */
    private void make(Source source) {
        List<byte[]> chunk;
        try {
            chunk = isClosed() ? List.of() : source.chunks.next();
        } catch (RuntimeException e) {
            failed(e);
            return;
        }
        context.executor().execute(() -> {
            source.fetching = false;
            source.ready = chunk;
            source.ended = chunk.isEmpty();
            if (source.ended) {
                // The last chunk takes memory until it is written, so its reader has as much time as for the end of a
                // response.
                source.written.addListener(done -> giveBack());
                WriteTimeout.watch(context, source.written);
            }
            write();
        });
    }

    private void expectProgress() {
        long before = progress;
        stall = context.executor()
                .schedule(
                        () -> {
                            stall = null;
                            if (!waiting.isEmpty() && progress == before) {
                                cutOff();
                            } else if (!waiting.isEmpty()) {
                                expectProgress();
                            }
                        },
                        STALL_SECONDS,
                        TimeUnit.SECONDS);
    }

    private void cutOff() {
        log.warn("disconnecting {}: it reads too slowly", Peer.address(context.channel()));
        disconnect();
    }

    private ChannelFuture disconnect() {
        closed();
        return context.close();
    }

    @Override
    public void disconnect(Runnable done) {
        context.executor().execute(() -> disconnect().addListener(closed -> done.run()));
    }

    @Override
    public String user() {
        return user;
    }

    @Override
    public long unread() {
        return outbox.unread(this);
    }

    private void finish() {
        closed();
        ChannelFuture written = framing.end(context);
        WriteTimeout.watch(context, written);
        afterEnd.run();
    }

    @Override
    public void onClose(Runnable action) {
        synchronized (this) {
            if (!closed) {
                onClose.add(action);
                return;
            }
        }
        action.run();
    }

    /** Called on the event loop when the reader has disconnected or the response has ended. */
    void closed() {
        List<Runnable> actions;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            actions = List.copyOf(onClose);
        }
        drop();
        if (stall != null) {
            stall.cancel(false);
        }
        if (block != null) {
            block.cancel(false);
        }
        actions.forEach(Runnable::run);
    }

    private synchronized boolean isClosed() {
        return closed;
    }
}
