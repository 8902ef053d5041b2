package io.nodekeeper.agent.facts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CpuSetTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"0|0", "3,1,2|1-3", "0-1,4,6-7|0-1,4,6-7", "' 0-3\n'|0-3", "''|''"})
    void shouldWriteRanges(String read, String written) {
        assertThat(CpuSet.parse(read)).hasToString(written);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "1-", "-1", "3-1", "1,,2", "99999999", "0-99999", "0:1"})
    void shouldRefuseOtherTexts(String text) {
        assertThatThrownBy(() -> CpuSet.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + text + "\"");
    }

    @Property
    void shouldReadWhatItWrote(
            @ForAll Set<@IntRange(min = 0, max = 70) Integer> some,
            @ForAll Set<@IntRange(min = 0, max = 70) Integer> more) {
        CpuSet a = CpuSet.of(some);
        CpuSet b = CpuSet.of(more);

        assertThat(CpuSet.parse(a.toString())).isEqualTo(a);
        assertThat(a.minus(b).plus(b)).isEqualTo(a.plus(b));
        assertThat(a.minus(b).overlaps(b)).isFalse();
        assertThat(a.plus(b).containsAll(b)).isTrue();
    }
}
