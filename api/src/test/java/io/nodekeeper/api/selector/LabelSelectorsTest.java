package io.nodekeeper.api.selector;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Label selectors in the form of objects, on the labels a=1, b=2. */
class LabelSelectorsTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {}                                                                            | true
            {"matchLabels":{"a":"1"}}                                                     | true
            {"matchLabels":{"a":"1","b":"3"}}                                             | false
            {"matchExpressions":[{"key":"a","operator":"In","values":["0","1"]}]}         | true
            {"matchExpressions":[{"key":"c","operator":"In","values":[""]}]}              | false
            {"matchExpressions":[{"key":"c","operator":"NotIn","values":["1"]}]}          | true
            {"matchExpressions":[{"key":"a","operator":"NotIn","values":["1"]}]}          | false
            {"matchExpressions":[{"key":"b","operator":"Exists"}]}                        | true
            {"matchExpressions":[{"key":"b","operator":"DoesNotExist"}]}                  | false
            {"matchExpressions":[{"key":"b","operator":"Unknown"}]}                       | false
            {"matchLabels":{"a":"1"},"matchExpressions":[{"key":"b","operator":"DoesNotExist"}]} | false
            """)
    void allRequirementsMustHold(String selector, boolean selects) {
        assertThat(LabelSelectors.matches(Json.parseObject(selector), Map.of("a", "1", "b", "2")))
                .isEqualTo(selects);
    }
}
