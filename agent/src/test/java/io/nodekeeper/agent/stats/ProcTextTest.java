package io.nodekeeper.agent.stats;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class ProcTextTest {
    private static final String STAT = """
            cpu  1000 20 300 40000 500 6 7 8 90 0
            cpu0 1000 20 300 40000 500 6 7 8 90 0
            ctxt 12345
            btime 1772323200
            processes 99
            """;

    private static final String DEV = """
            Inter-|   Receive                                                |  Transmit
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
                lo:     500       5    0    0    0     0          0         0      500       5    0    0    0     0       0          0
              eth0: 1234567    8901    2    0    0     0          0         0  7654321    1098    3    0    0     0       0          0
            """;

    @Example
    void processorTimeLeavesIdleAndIowaitOut() {
        // (1000 + 20 + 300 + 6 + 7 + 8) ticks of 10 ms
        assertThat(ProcText.processorNanos(STAT)).hasValue(13_410_000_000L);
        assertThat(ProcText.bootSeconds(STAT)).hasValue(1_772_323_200L);
    }

    @Example
    void countersAreThoseOfTheNamedInterface() {
        assertThat(ProcText.network(DEV, "eth0")).contains(new NodeUsage.Network("eth0", 1_234_567, 2, 7_654_321, 3));
        assertThat(ProcText.network(DEV, "eth")).isEmpty();
    }

    @Property
    void textThatIsCutOffHasNoValueOrAWholeLine(@ForAll @IntRange(max = 600) int length) {
        String dev = DEV.substring(0, Math.min(length, DEV.length()));
        ProcText.network(dev, "eth0")
                .ifPresent(network -> assertThat(network.sentBytes()).isEqualTo(7_654_321));
        assertThat(ProcText.processorNanos(STAT.substring(0, Math.min(length, 20))))
                .isEmpty();
    }

    @Property
    void anyTextIsReadWithoutAnError(@ForAll String text, @ForAll String name) {
        ProcText.processorNanos("cpu " + text);
        ProcText.bootSeconds("btime " + text);
        ProcText.network(text, name);
    }
}
