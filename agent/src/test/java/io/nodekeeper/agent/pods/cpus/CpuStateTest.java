package io.nodekeeper.agent.pods.cpus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.json.Json;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CpuStateTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"policyName\":\"static\",\"defaultCpuSet\":\"0-27\",\"checksum\":273146150}",
                "{\"policyName\":\"static\",\"defaultCpuSet\":\"0-13\",\"entries\":{\"6c5f3038-adfc-485d-9943-3fd5e825300d\":"
                        + "{\"app\":\"14-27\"}},\"checksum\":3451722052}",
                "{\"policyName\":\"static\",\"defaultCpuSet\":\"0,13\",\"entries\":{\"55784671-0e4e-49e2-b4d6-c0377ca14c81\":"
                        + "{\"app\":\"1-12\"},\"6c5f3038-adfc-485d-9943-3fd5e825300d\":{\"app\":\"14-27\"}},"
                        + "\"checksum\":3558029577}"
            })
    void shouldReadAndWriteWhatAKubeletWrote(String file) {
        assertThat(Json.write(CpuState.read(Json.parseObject(file)).json())).isEqualTo(file);
    }

    @Test
    void shouldRefuseADamagedFile() {
        assertThatThrownBy(() -> CpuState.read(Json.parseObject(
                        "{\"policyName\":\"static\",\"defaultCpuSet\":\"0-26\",\"checksum\":273146150}")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("checkpoint is corrupted: checksum is 273146150, expected ");
    }
}
