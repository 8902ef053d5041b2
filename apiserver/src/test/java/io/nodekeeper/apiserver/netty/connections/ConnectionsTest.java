package io.nodekeeper.apiserver.netty.connections;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which connections are closed when there are too many. */
class ConnectionsTest {
    private static final long MB = 1 << 20;

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-21T07:00:00Z"));
    private final List<EmbeddedChannel> channels = new ArrayList<>();

    private Connections connections(int most, long unprovenBytes) {
        return new Connections(
                new ConnectionLimits(most, unprovenBytes), time.loop("test").clock());
    }

    private Connections.Client connect(Connections connections) {
        EmbeddedChannel channel = new EmbeddedChannel();
        channels.add(channel);
        return connections.add(channel);
    }

    private static void send(EmbeddedChannel channel, int bytes) {
        channel.writeInbound(Unpooled.wrappedBuffer(new byte[bytes]));
    }

    /** The numbers of the connections that are open, in the order in which they were opened. */
    private List<Integer> open() {
        channels.forEach(EmbeddedChannel::runPendingTasks);
        return Stream.iterate(0, i -> i < channels.size(), i -> i + 1)
                .filter(i -> channels.get(i).isOpen())
                .toList();
    }

    @Test
    void oldestUnprovenConnectionIsClosedForANewOne() {
        Connections connections = connections(4, MB);
        for (int i = 0; i < 6; i++) {
            connect(connections);
        }
        assertThat(open()).containsExactly(2, 3, 4, 5);
    }

    @Test
    void closedConnectionMakesRoomForANewOne() {
        Connections connections = connections(4, MB);
        for (int i = 0; i < 4; i++) {
            connect(connections);
        }
        channels.get(3).close();
        connect(connections);
        assertThat(open()).containsExactly(0, 1, 2, 4);
    }

    @Test
    void userOfAnOffenderIsNotTrustedForFiveMinutes() {
        // given a client that is trusted, until it offends
        Connections connections = connections(8, MB);
        Connections.Client client = connect(connections);
        assertThat(client.isTrusted()).isFalse();
        client.proven("mallory");
        assertThat(client.isTrusted()).isTrue();
        Connections.Client earlier = connect(connections);
        earlier.proven("mallory");
        client.offended();

        // when its user and another one prove who they are on new connections
        Connections.Client again = connect(connections);
        again.proven("mallory");
        Connections.Client other = connect(connections);
        other.proven("alice");

        // then the user counts as unknown until five minutes have passed
        assertThat(again.isTrusted()).isFalse();
        assertThat(earlier.isTrusted()).isFalse();
        assertThat(other.isTrusted()).isTrue();
        time.advance(Duration.ofMinutes(5).minusMillis(1));
        again.proven("mallory");
        assertThat(again.isTrusted()).isFalse();
        time.advance(Duration.ofMillis(1));
        again.proven("mallory");
        assertThat(again.isTrusted()).isTrue();
    }

    @Test
    void numberOfOffendersIsLimited() {
        // given 1,001 users who offend
        Connections connections = connections(10_000, 1_000 * MB);
        for (int i = 0; i < 1_001; i++) {
            Connections.Client client = connect(connections);
            client.proven("user" + i);
            client.offended();
            time.advance(Duration.ofMillis(1));
        }
        // then the last thousand are not trusted
        Connections.Client first = connect(connections);
        first.proven("user0");
        Connections.Client second = connect(connections);
        second.proven("user1");
        assertThat(first.isTrusted()).isTrue();
        assertThat(second.isTrusted()).isFalse();
    }

    @Test
    void provenConnectionIsNeverClosedForOthers() {
        // given two clients that have proven who they are, the first and the third
        Connections connections = connections(4, MB);
        connect(connections).proven("alice");
        connect(connections);
        connect(connections).proven("alice");
        // when many others connect
        for (int i = 3; i < 100; i++) {
            connect(connections);
        }
        // then these two stay, and the newest of the others
        assertThat(open()).containsExactly(0, 2, 98, 99);
        // and the handler that counts has left
        assertThat(channels.get(0).pipeline().first()).isNull();
    }

    @Test
    void endOfAProvenConnectionMakesRoom() {
        Connections connections = connections(4, MB);
        connect(connections).proven("alice");
        for (int i = 1; i < 4; i++) {
            connect(connections);
        }
        channels.get(0).close();
        connect(connections);
        assertThat(open()).containsExactly(1, 2, 3, 4);
    }

    @Test
    void anEighthOfAllConnectionsIsAlwaysLeftForNewClients() {
        // given 14 of 16 connections that are proven, and two that would be, but are more than seven eighths
        Connections connections = connections(16, MB);
        for (int i = 0; i < 16; i++) {
            connect(connections).proven("alice");
        }
        // when two connect
        connect(connections);
        Connections.Client newest = connect(connections);
        // then those two make room, until a place for a proven client is free
        assertThat(open()).hasSize(16).contains(13, 16, 17).doesNotContain(14, 15);
        channels.get(0).close();
        newest.proven("alice");
        connect(connections);
        connect(connections);
        assertThat(open()).contains(17, 18, 19).doesNotContain(16);
    }

    @Test
    void memoryOfIdleConnectionsIsLimited() {
        // given memory for ten connections
        Connections connections = connections(1_000, 10 * Connections.CONNECTION_BYTES);
        for (int i = 0; i < 13; i++) {
            connect(connections);
        }
        assertThat(open()).containsExactly(3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    }

    @Test
    void connectionWithManyStreamsIsClosedBeforeOlderOnesWithFew() {
        // given memory for 130 streams or so, a client with one, and one with 100
        Connections connections = connections(1_000, MB);
        Connections.Client small = connect(connections);
        small.opened(new EmbeddedChannel());
        Connections.Client large = connect(connections);
        for (int i = 0; i < 100; i++) {
            large.opened(new EmbeddedChannel());
        }
        assertThat(open()).containsExactly(0, 1);
        // when a third opens some
        Connections.Client third = connect(connections);
        for (int i = 0; i < 30; i++) {
            third.opened(new EmbeddedChannel());
        }
        // then the second is closed
        assertThat(open()).containsExactly(0, 2);
    }

    @Test
    void closedStreamsTakeNoMemory() {
        Connections connections = connections(1_000, MB);
        Connections.Client client = connect(connections);
        for (int i = 0; i < 10_000; i++) {
            EmbeddedChannel stream = new EmbeddedChannel();
            client.opened(stream);
            stream.close();
        }
        assertThat(open()).containsExactly(0);
    }

    @Test
    void whatWasReceivedCountsUpToWhatIsKept() {
        // given memory for seven connections with long headers
        Connections connections = connections(1_000, MB);
        for (int i = 0; i < 7; i++) {
            connect(connections);
            // when each sends 2 MB
            for (int j = 0; j < 64; j++) {
                send(channels.get(i), 32 << 10);
            }
        }
        assertThat(open()).hasSize(7);
        connect(connections);
        send(channels.get(7), 128 << 10);
        // then an eighth of the memory is made free
        assertThat(open()).containsExactly(2, 3, 4, 5, 6, 7);
    }

    @Test
    void provenClientsDoNotUseTheMemoryOfOthers() {
        Connections connections = connections(1_000, MB);
        for (int i = 0; i < 100; i++) {
            Connections.Client client = connect(connections);
            send(channels.get(i), 100_000);
            client.proven("alice");
            channels.get(i).runPendingTasks();
            for (int j = 0; j < 250; j++) {
                client.opened(new EmbeddedChannel());
            }
        }
        assertThat(open()).hasSize(100);
    }

    @Test
    void tenThousandNodesCanConnectAtTheSameTime() {
        // given a server with the default heap, and 3,000 bytes of each node before it is proven
        Connections connections = new Connections(
                ConnectionLimits.of(65_536, 800 * MB), time.loop("test").clock());
        List<Connections.Client> clients = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            clients.add(connect(connections));
            send(channels.get(i), 3_000);
        }
        assertThat(open()).hasSize(10_000);
        // when they are proven, and then as many others connect as can
        clients.forEach(client -> client.proven("alice"));
        for (int i = 0; i < 30_000; i++) {
            connect(connections);
        }
        // then all nodes stay
        assertThat(open().subList(0, 10_000)).last().isEqualTo(9_999);
        assertThat(open()).hasSize(10_000 + 12_800);
    }
}
