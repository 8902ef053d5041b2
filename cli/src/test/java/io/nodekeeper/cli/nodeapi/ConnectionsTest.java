package io.nodekeeper.cli.nodeapi;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The places for connections to the node's API. */
class ConnectionsTest {
    private final Connections connections = new Connections();

    @Test
    void shouldCloseTheConnectionWithTheOldestAnswer() {
        Channel first = opened();
        Channel second = opened();
        connections.answered(first);
        for (int i = 2; i < Connections.REQUESTS; i++) {
            opened();
        }
        assertThat(second.isOpen()).isTrue();

        opened();

        assertThat(second.isOpen()).isFalse();
        assertThat(first.isOpen()).isTrue();
        assertThat(connections.requests()).isEqualTo(Connections.REQUESTS);
    }

    @Test
    void shouldKeepStreamsWhateverElseComes() {
        Channel stream = opened();
        assertThat(connections.begin(stream, "web")).isTrue();

        for (int i = 0; i < 3 * Connections.REQUESTS; i++) {
            opened();
        }

        assertThat(stream.isOpen()).isTrue();
    }

    @Test
    void shouldLeavePlacesToOtherPodsWhateverOnePodTakes() {
        List<Channel> silent = begunUntilRefused("silent");
        assertThat(silent).hasSize(73);

        assertThat(begunUntilRefused("other")).hasSize(49);
        assertThat(begunUntilRefused("third")).hasSize(33);
        assertThat(connections.begin(opened(), "silent")).isFalse();

        silent.forEach(Channel::close);
        assertThat(begunUntilRefused("fourth")).hasSize(46);
    }

    @Test
    void shouldHaveSoManyPlacesForStreams() {
        List<Channel> streams = new ArrayList<>();
        for (int i = 0; i < Connections.STREAMS - 1; i++) {
            Channel stream = opened();
            assertThat(connections.begin(stream, "pod-" + i)).isTrue();
            streams.add(stream);
        }
        assertThat(connections.begin(opened(), "last")).isFalse();

        streams.getFirst().close();

        assertThat(connections.begin(opened(), "last")).isTrue();
    }

    @Test
    void shouldGiveNoPlaceToAClientThatHasGone() {
        Channel gone = opened();
        gone.close();

        assertThat(connections.begin(gone, "web")).isFalse();
        assertThat(connections.requests()).isZero();
    }

    private List<Channel> begunUntilRefused(String pod) {
        List<Channel> begun = new ArrayList<>();
        for (Channel next = opened(); connections.begin(next, pod); next = opened()) {
            begun.add(next);
        }
        return begun;
    }

    private Channel opened() {
        Channel channel = new EmbeddedChannel();
        connections.opened(channel);
        return channel;
    }
}
