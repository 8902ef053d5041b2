package io.nodekeeper.agent.pods.cpus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.facts.CpuSet;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The machine has two sockets of four cores with two threads: core c of socket s has the processors 4s+c and 4s+c+8. */
class CpuChoiceTest {
    private static final CpuTopology MACHINE = Topologies.of(2, 4, 2);

    @ParameterizedTest(name = "{1} of {0}")
    @CsvSource(
            delimiter = '|',
            value = {
                // A whole socket, and the rest as whole cores of the other one.
                "0-15|8|0-3,8-11",
                "0-15|10|0-4,8-12",
                // Whole cores before single threads.
                "0-15|2|0,8",
                "0-15|3|0-1,8",
                "1-15|1|8",
                "1-15|2|1,9",
                // Of the socket that has fewer free ones.
                "0-5,8-13|4|4-5,12-13",
                // Single threads: of cores that are used already.
                "0-2,8|1|1",
                "0,9,2|3|0,2,9",
                "0-15|0|''"
            })
    void shouldPackTightly(String available, int count, String taken) {
        assertThat(CpuChoice.take(MACHINE, CpuSet.parse(available), count)).hasToString(taken);
    }

    @Test
    void shouldRefuseMoreThanThereIs() {
        assertThatThrownBy(() -> CpuChoice.take(MACHINE, CpuSet.parse("1-3"), 4))
                .isInstanceOf(CpuException.class)
                .hasMessage("not enough cpus available to satisfy request: requested=4, available=3");
    }

    @Property
    void shouldTakeAsManyAsAskedForOfThoseThatAreThere(
            @ForAll Set<@IntRange(min = 0, max = 15) Integer> ids, @ForAll @IntRange(min = 0, max = 16) int count) {
        CpuSet available = CpuSet.of(ids);
        int possible = Math.min(count, available.size());

        CpuSet taken = CpuChoice.take(MACHINE, available, possible);

        assertThat(taken.size()).isEqualTo(possible);
        assertThat(available.containsAll(taken)).isTrue();
    }
}
