package io.nodekeeper.apiserver.printers;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cells of all kinds. */
class TablesTest {
    @ParameterizedTest
    @CsvSource({
        "-2, <invalid>",
        "-1, 0s",
        "0, 0s",
        "119, 119s",
        "120, 2m",
        "228, 3m48s",
        "599, 9m59s",
        "600, 10m",
        "4140, 69m",
        "10800, 3h",
        "18720, 5h12m",
        "28800, 8h",
        "172799, 47h",
        "172800, 2d",
        "262800, 3d1h",
        "691200, 8d",
        "63072000, 2y",
        "63936000, 2y10d",
        "315360000, 10y"
    })
    void ages(long seconds, String text) {
        assertThat(CellText.age(Duration.ofSeconds(seconds))).isEqualTo(text);
    }
}
