package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What the reader of a watch with many changes gets, and when, with the channel's frozen clock. */
class BusyWatchTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-21T07:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("store");
    private final ServerContext serverContext = ServerContexts.of(loop, 1 << 20);
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final NettySink sink;
    private int sent;

    BusyWatchTest() {
        channel.freezeTime();
        channel.pipeline().addLast("last", new ChannelInboundHandlerAdapter());
        sink = new NettySink(channel.pipeline().context("last"), serverContext, Framing.BODY, "a", () -> {});
    }

    /** Ten changes, which were committed together. */
    private void ten() {
        List<byte[]> lines = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            lines.add((sent++ + "\n").getBytes(StandardCharsets.US_ASCII));
        }
        sink.write(lines);
        channel.runPendingTasks();
    }

    private void pass(int millis) {
        for (int i = 0; i < millis; i++) {
            channel.advanceTimeBy(1, TimeUnit.MILLISECONDS);
            channel.runPendingTasks();
        }
    }

    /** What the reader got since the last call, one text for each part. */
    private List<String> read() {
        List<String> parts = new ArrayList<>();
        Object part;
        while ((part = channel.readOutbound()) != null) {
            HttpContent content = (HttpContent) part;
            parts.add(
                    content instanceof LastHttpContent
                            ? "end"
                            : content.content().toString(StandardCharsets.US_ASCII));
            content.release();
        }
        return parts;
    }

    private void load() {
        for (int i = 0; i < 100; i++) {
            ten();
            pass(10);
        }
        pass(40);
        read();
        sent = 0;
    }

    @Test
    void groupsOfABusyWatchShareABlockInTheirOrder() {
        load();
        ten();
        assertThat(read()).containsExactly("0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
        pass(10);
        ten();
        pass(9);
        ten();
        assertThat(read()).isEmpty();
        pass(1);
        assertThat(read())
                .containsExactly("10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n23\n24\n25\n26\n27\n28\n29\n");
    }

    @Test
    void loneChangeIsWrittenAtOnce() {
        sink.write("a\n".getBytes(StandardCharsets.US_ASCII));
        channel.runPendingTasks();
        assertThat(read()).containsExactly("a\n");
    }

    @Test
    void endComesAtOnceAfterTheLinesThatWait() {
        load();
        ten();
        read();
        ten();
        sink.end();
        channel.runPendingTasks();
        assertThat(read()).containsExactly("10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n", "end");
    }

    @Test
    void muchDataDoesNotWait() {
        load();
        ten();
        read();
        sink.write(List.of(new byte[64 << 10]));
        channel.runPendingTasks();
        assertThat(read()).hasSize(1);
    }

    @Test
    void blocksAndTheirLinesAreCounted() throws Exception {
        load();
        double before = blocks();
        // The first ten do not wait; the others share a block.
        ten();
        ten();
        ten();
        pass(20);

        assertThat(new String(serverContext.server.metrics().expose(), StandardCharsets.UTF_8))
                .contains("nodekeeper_watch_lines_total 1030.0\n");
        assertThat(blocks() - before).isEqualTo(2);
    }

    private double blocks() throws Exception {
        String name = "nodekeeper_watch_blocks_total ";
        return new String(serverContext.server.metrics().expose(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith(name))
                .mapToDouble(line -> Double.parseDouble(line.substring(name.length())))
                .findFirst()
                .orElseThrow();
    }
}
