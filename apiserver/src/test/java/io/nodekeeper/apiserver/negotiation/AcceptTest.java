package io.nodekeeper.apiserver.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AcceptTest {
    @Test
    void typesHaveTheirOrderAndParameters() {
        assertThat(Accept.ranges("application/json;as=Table;v=v1; g=meta.k8s.io , application/json,*/*"))
                .containsExactly(
                        new Accept("application/json", Map.of("as", "Table", "v", "v1", "g", "meta.k8s.io")),
                        new Accept("application/json", Map.of()),
                        new Accept("*/*", Map.of()));
    }

    @Test
    void emptyHeaderAcceptsAll() {
        assertThat(Accept.ranges(" ")).containsExactly(new Accept("*/*", Map.of()));
    }

    @ParameterizedTest
    @CsvSource({"0,false", "0.,false", "0.000,false", "0.001,true", "00,true", "1,true", "0x,true", "'',true"})
    void weightOfZeroRefuses(String weight, boolean accepted) {
        assertThat(Accept.ranges("text/plain;q=" + weight)).hasSize(accepted ? 1 : 0);
    }

    /** The header is read on a connection's thread before its sender is known. */
    @Test
    void onlyTheFirst32ElementsCount() {
        String header = "application/vnd.kubernetes.protobuf" + ",a".repeat(30_000) + ",application/json";

        List<Accept> ranges = Accept.ranges(header);

        assertThat(ranges).hasSize(32);
        assertThat(ranges.getFirst().type()).isEqualTo("application/vnd.kubernetes.protobuf");
        assertThat(ranges).noneMatch(range -> range.type().equals("application/json"));
    }

    @Test
    void onlyTheFirst32PartsOfAnElementCount() {
        String header = "application/json" + ";p=1".repeat(15_000) + ";q=0";

        assertThat(Accept.ranges(header)).containsExactly(new Accept("application/json", Map.of("p", "1")));
    }

    @ParameterizedTest
    @ValueSource(strings = {",", ",,,, ;", ";;;;"})
    void elementsWithoutTextAreNone(String header) {
        assertThat(Accept.ranges(header)).isEmpty();
    }
}
