package io.nodekeeper.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QosClassTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "''                                                                              | BEST_EFFORT",
                "'\"requests\": {\"cpu\": \"0\"}'                                                | BEST_EFFORT",
                "'\"requests\": {\"ephemeral-storage\": \"1Gi\"}'                                | BEST_EFFORT",
                "'\"requests\": {\"cpu\": \"1\"}'                                                | BURSTABLE",
                "'\"limits\": {\"cpu\": \"1\"}'                                                  | BURSTABLE",
                "'\"limits\": {\"cpu\": \"1\", \"memory\": \"1Gi\"}'                             | GUARANTEED",
                "'\"limits\": {\"cpu\": \"1\", \"memory\": \"1Gi\"}, \"requests\": {\"cpu\": \"1000m\"}' | GUARANTEED",
                "'\"limits\": {\"cpu\": \"1\", \"memory\": \"1Gi\"}, \"requests\": {\"cpu\": \"500m\"}'  | BURSTABLE",
                "'\"limits\": {\"cpu\": \"1\", \"memory\": \"1Gi\"}, \"requests\": {\"cpu\": \"0\"}'     | BURSTABLE"
            })
    void oneContainerDecides(String resources, QosClass expected) {
        assertThat(QosClass.of(Json.parseObject("{\"containers\": [{\"resources\": {" + resources + "}}]}")))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"containers", "initContainers"})
    void oneContainerWithoutLimitsMakesAPodBurstable(String others) {
        String guaranteed = "{\"resources\": {\"limits\": {\"cpu\": \"1\", \"memory\": \"1Gi\"}}}";
        String spec = others.equals("containers")
                ? "{\"containers\": [" + guaranteed + ", {}]}"
                : "{\"containers\": [" + guaranteed + "], \"initContainers\": [{}]}";

        assertThat(QosClass.of(Json.parseObject(spec))).isEqualTo(QosClass.BURSTABLE);
    }
}
