package io.nodekeeper.agent.logs;

import io.nodekeeper.api.Failures;
import io.nodekeeper.client.pages.Feed;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends a log to one client: a step is read when the client has taken the step before, so a slow client costs one step of
 * memory and no thread. Confined to its loop, except {@link #stop}.
 */
public final class LogPump {
    private static final Logger log = LoggerFactory.getLogger(LogPump.class);
    /** How often a followed file is looked at: as fast as people notice, and a few system calls per second. */
    static final Duration LOOK = Duration.ofMillis(250);
    /** The deadline of a step; only a disk that hangs takes longer. */
    static final Duration STEP_LIMIT = Duration.ofSeconds(30);

    private final LogReader reader;
    private final boolean follow;
    private final BooleanSupplier ended;
    private final BlockingCalls disk;
    private final Loop loop;
    private final Feed.Reader client;
    private boolean stopped;
    /** Whether a worker uses the reader. */
    private boolean reading;

    /**
     * A pump that is not started.
     *
     * @param ended whether nothing more will be written to the log; called on {@code loop}
     */
    public LogPump(
            LogReader reader,
            boolean follow,
            BooleanSupplier ended,
            BlockingCalls disk,
            Loop loop,
            Feed.Reader client) {
        this.reader = reader;
        this.follow = follow;
        this.ended = ended;
        this.disk = disk;
        this.loop = loop;
        this.client = client;
    }

    /** Sends until the log ends, then closes the client's answer. */
    public void start() {
        loop.execute(this::step);
    }

    /** Ends it, because the client has gone. */
    public void stop() {
        loop.execute(this::finish);
    }

    private void step() {
        if (stopped) {
            return;
        }
        // Before the file is read: what was written before the end is then seen.
        boolean last = !follow || ended.getAsBoolean();
        reading = true;
        disk.call("reading a log", STEP_LIMIT, reader::read)
                .whenCompleteAsync((step, error) -> take(step, error, last), loop);
    }

    private void take(LogReader.@Nullable Step step, @Nullable Throwable error, boolean last) {
        reading = false;
        if (stopped) {
            close();
        } else if (step == null) {
            log.info("a log cannot be read on: {}", error == null ? "" : Failures.text(error));
            finish();
        } else if (step.next() == LogReader.Next.END && last) {
            send(reader.remainder(), this::finish);
        } else {
            send(step.bytes(), () -> {
                switch (step.next()) {
                    case MORE -> step();
                    case END -> loop.schedule(LOOK, this::step);
                    case DONE -> finish();
                }
            });
        }
    }

    private void send(byte[] bytes, Runnable then) {
        if (bytes.length == 0) {
            then.run();
            return;
        }
        client.send(bytes)
                .whenCompleteAsync(
                        (sent, error) -> {
                            if (error == null) {
                                then.run();
                            } else {
                                finish();
                            }
                        },
                        loop);
    }

    private void finish() {
        if (!stopped) {
            stopped = true;
            client.close();
            if (!reading) {
                close();
            }
        }
    }

    private void close() {
        disk.call("closing a log", STEP_LIMIT, () -> {
                    reader.close();
                    return "";
                })
                .whenComplete((done, error) -> {
                    if (error != null) {
                        log.debug("a log cannot be closed: {}", error.toString());
                    }
                });
    }
}
