package io.nodekeeper.agent.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Versions as runtimes report them, and as the kubelet prints them. */
class VersionTextTest {

    @ParameterizedTest
    @CsvSource({
        "1.6.20, 1.6.20",
        "1.6.20~ds1, 1.6.20",
        "v1.7.2, 1.7.2",
        "' v1.7.2 ', 1.7.2",
        "1.7.0-rc.1, 1.7.0-rc.1",
        "1.7.24-0ubuntu1~22.04.2, 1.7.24",
        "2.0.0+azure-1, 2.0.0+azure-1",
        "1.7.0-rc.1+meta, 1.7.0-rc.1+meta",
        "1.7.0-01, 1.7.0",
        "1.6, 1.6",
        "1.2.3.4, 1.2.3.4",
        "20.10.07, 20.10.7",
        "1.30.1-unknown, 1.30.1-unknown"
    })
    void aDistributionsSuffixGoesAndASemanticVersionStays(String reported, String expected) {
        assertThat(VersionText.of(reported)).contains(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1", "latest", "x1.2.3", "1.99999999999999999999999"})
    void whatIsNoVersionIsNotReported(String reported) {
        assertThat(VersionText.of(reported)).isEmpty();
    }
}
