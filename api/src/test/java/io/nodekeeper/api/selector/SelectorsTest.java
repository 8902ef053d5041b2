package io.nodekeeper.api.selector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SelectorsTest {
    private static final JsonObject LABELS =
            JsonObject.ofStrings(Map.of("zone", "a", "size", "5", "empty", "", "example.com/role", "x_1.y"));

    @ParameterizedTest
    @Tag("W59")
    @CsvSource(
            delimiter = '|',
            value = {
                "zone=a | true",
                "zone==a | true",
                "zone=b | false",
                "absent=a | false",
                "zone!=a | false",
                "zone!=b | true",
                "absent!=b | true",
                "zone in (a,b) | true",
                "zone in ( b , a ) | true",
                "zone in (b) | false",
                "absent in (a) | false",
                "zone notin (a,b) | false",
                "zone notin (b) | true",
                "absent notin (a) | true",
                "zone | true",
                "absent | false",
                "!absent | true",
                "! zone | false",
                "size>4 | true",
                "size>5 | false",
                "size<6 | true",
                "size<5 | false",
                "zone>1 | false",
                "absent<9 | false",
                "empty= | true",
                "empty | true",
                "zone= | false",
                "example.com/role=x_1.y | true",
                "zone=a,size=5 | true",
                "zone=a,size=6 | false",
                "zone in (a,b),!absent,size>1 | true",
                "' zone = a , size = 5 ' | true"
            })
    void selectsByLabels(String selector, boolean matches) {
        assertThat(LabelSelector.parse(selector).matches(LABELS)).isEqualTo(matches);
    }

    @ParameterizedTest
    @Tag("W59")
    @ValueSource(
            strings = {
                "zone=a b",
                "zone in a",
                "zone in (a",
                "zone in a)",
                "a,,b",
                "=a",
                "!",
                "a=b=c",
                "size>x",
                "size>",
                "-a",
                "a/b/c",
                "a=-b",
                "a in (_)",
                "a(",
                "ключ=a"
            })
    void refusesLabelSelectorsThatItCannotRead(String selector) {
        assertThatThrownBy(() -> LabelSelector.parse(selector))
                .isInstanceOfSatisfying(
                        ApiException.class,
                        refused -> assertThat(refused.code()).isEqualTo(400))
                .hasMessageStartingWith("unable to parse requirement: ");
    }

    @Test
    void theEmptySelectorsSelectEverything() {
        assertThat(LabelSelector.parse("").isAll()).isTrue();
        assertThat(LabelSelector.parse(" ").matches(LABELS)).isTrue();
        assertThat(FieldSelector.parse("").isAll()).isTrue();
    }

    private static String field(String path) {
        return switch (path) {
            case "metadata.name" -> "n1";
            case "spec.nodeName" -> "a,b=c\\d";
            default -> "";
        };
    }

    @ParameterizedTest
    @Tag("W57")
    @CsvSource(
            delimiter = '|',
            value = {
                "metadata.name=n1 | true",
                "metadata.name==n1 | true",
                "metadata.name!=n1 | false",
                "metadata.name=n2 | false",
                "involvedObject.namespace= | true",
                "involvedObject.namespace!= | false",
                "metadata.name=n1,status.phase!=Failed,status.phase!=Succeeded | true",
                "status.phase!=Succeeded,metadata.name=n1,status.phase!=Failed | true",
                "'spec.nodeName=a\\,b\\=c\\\\d' | true",
                "spec.nodeName=a | false"
            })
    void selectsByFieldsInAnyOrder(String selector, boolean matches) {
        assertThat(FieldSelector.parse(selector).matches(SelectorsTest::field)).isEqualTo(matches);
    }

    @Test
    void refusesFieldSelectorsThatItCannotRead() {
        assertThatThrownBy(() -> FieldSelector.parse("xx")).hasMessage("invalid selector: 'xx'; can't understand 'xx'");
        assertThatThrownBy(() -> FieldSelector.parse("a=\\x")).hasMessageContaining("are escapes");
        assertThatThrownBy(() -> FieldSelector.parse("a=b\\")).hasMessageContaining("are escapes");
    }

    @Test
    void findsTheValueThatAFieldMustHave() {
        FieldSelector selector = FieldSelector.parse("a!=x,metadata.name=n1");
        assertThat(selector.required("metadata.name")).contains("n1");
        assertThat(selector.required("a")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a",
                "!a",
                "b",
                "!b",
                "a=1",
                "a!=1",
                "b!=1",
                "a in (1,2)",
                "a notin (1,2)",
                "a>0",
                "a<1",
                "b>0",
                "c",
                "!c",
                "c=x"
            })
    void labelsOfAnObjectMatchAsTheirTexts(String selector) {
        JsonObject labels = Json.parseObject("{\"a\":\"1\",\"c\":7}");

        assertThat(LabelSelector.parse(selector).matches(labels))
                .isEqualTo(LabelSelector.parse(selector).matches(JsonObject.ofStrings(labels.texts())));
    }

    @Test
    void selectorsHaveAtMost200PartsAndSets1000Values() {
        assertThat(LabelSelector.parse("a" + ",a".repeat(199)).isAll()).isFalse();
        assertThatThrownBy(() -> LabelSelector.parse("a" + ",a".repeat(200)))
                .isInstanceOf(ApiException.class)
                .hasMessage("a label selector may have 200 requirements, got more");
        assertThat(FieldSelector.parse("a=b" + ",a=b".repeat(199)).terms()).hasSize(200);
        assertThatThrownBy(() -> FieldSelector.parse("a=b" + ",".repeat(1_000_000)))
                .isInstanceOf(ApiException.class)
                .hasMessage("a field selector may have 200 terms, got more");
        assertThat(LabelSelector.parse("a in (b" + ",b".repeat(999) + ")").isAll())
                .isFalse();
        assertThatThrownBy(() -> LabelSelector.parse("a in (" + ",".repeat(1_000_000) + ")"))
                .isInstanceOf(ApiException.class)
                .hasMessage("the sets of a label selector may have 1000 values together");
    }
}
