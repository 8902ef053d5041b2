package io.nodekeeper.agent.problems.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.AlphaChars;
import net.jqwik.api.constraints.LongRange;

class KmsgRecordTest {
    @Example
    void readsTheKernelsRecords() {
        assertThat(parse("6,4719,39471180529,-;veth617b0652: entered allmulticast mode\n"))
                .contains(new KmsgRecord(4_719, 39_471_180_529L, "veth617b0652: entered allmulticast mode"));
        assertThat(parse("6,339,5140900,-,caller=T1;NET: Registered\n SUBSYSTEM=net\n DEVICE=n2\n"))
                .contains(new KmsgRecord(339, 5_140_900, "NET: Registered"));
        assertThat(parse("12,1,2,c;with; semicolons, \\x5c and \\x0a and \\xzz and \\x"))
                .contains(new KmsgRecord(1, 2, "with; semicolons, \\ and   and \\xzz and \\x"));
    }

    @Example
    void refusesEverythingElse() {
        assertThat(parse("")).isEmpty();
        assertThat(parse("no header")).isEmpty();
        assertThat(parse("6,4719;short")).isEmpty();
        assertThat(parse("6,-1,5,-;negative")).isEmpty();
        assertThat(parse("6,99999999999999999999,5,-;too long")).isEmpty();
    }

    @Property
    void keepsNumbersAndText(
            @ForAll @LongRange(min = 0, max = 999_999_999_999_999_999L) long sequence,
            @ForAll @LongRange(min = 0, max = 999_999_999_999_999_999L) long micros,
            @ForAll @AlphaChars String message) {
        assertThat(parse("4," + sequence + "," + micros + ",-;" + message + "\n"))
                .contains(new KmsgRecord(sequence, micros, message));
    }

    @Property
    void anyBytesAreARecordOrNone(@ForAll byte[] bytes) {
        KmsgRecord.parse(bytes).ifPresent(record -> assertThat(record.message()).doesNotContain("\n"));
    }

    private static Optional<KmsgRecord> parse(String text) {
        return KmsgRecord.parse(text.getBytes(StandardCharsets.UTF_8));
    }
}
