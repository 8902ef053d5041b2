package io.nodekeeper.api.yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class YamlTest {
    private static JsonValue read(String yaml) {
        return YamlReader.read(yaml.getBytes(StandardCharsets.UTF_8), repeated -> {});
    }

    private static String written(JsonValue value) {
        return new String(Yaml.write(value), StandardCharsets.UTF_8);
    }

    /** A text of {@code levels} lists in each other, around {@code innermost}. */
    private static String lists(int levels, String innermost) {
        return "[".repeat(levels) + innermost + "]".repeat(levels);
    }

    @Test
    void aliasesCountTheirLevelsLikeCopies() {
        // given a list of 120 levels, and its alias in 79 more, in a mapping
        String good = "a: &a " + lists(120, "x") + "\nb: " + lists(79, "*a") + "\n";
        // and the same one level deeper
        String bad = "a: &a " + lists(120, "x") + "\nb: " + lists(80, "*a") + "\n";

        // then 200 levels are read
        assertThat(read(good))
                .isEqualTo(Json.parse("{\"a\":" + lists(120, "\"x\"") + ",\"b\":" + lists(199, "\"x\"") + "}"));
        // and no more
        assertThatThrownBy(() -> read(bad))
                .isInstanceOf(YamlException.class)
                .hasMessage("nested deeper than 200 levels, aliases included (line 2, column 84)");
    }

    @Test
    void aliasesOfAliasesCountAllLevels() {
        // given 20 KB of lists, each of which has the one before in 150 levels
        StringBuilder yaml = new StringBuilder("a0: &a0 " + lists(150, "x") + "\n");
        for (int i = 1; i < 60; i++) {
            yaml.append("a" + i + ": &a" + i + " " + lists(150, "*a" + (i - 1)) + "\n");
        }

        assertThatThrownBy(() -> read(yaml.toString()))
                .isInstanceOf(YamlException.class)
                .hasMessageStartingWith("nested deeper than 200 levels, aliases included (line 2,");
    }

    @Test
    void levelsOfOneValueDoNotCountForItsNeighbours() {
        // given a deep value in front of a flat one, whose alias is deep down
        String yaml = "a: " + lists(190, "x") + "\nb: &b [y]\nc: " + lists(190, "*b") + "\n";

        assertThat(read(yaml)).isInstanceOf(JsonObject.class);
    }

    @Test
    void malformedNumberInAnEscapeIsAFaultOfTheText() {
        assertThatThrownBy(() -> read("\"\\UFFFFFFFF\""))
                .isInstanceOf(YamlException.class)
                .hasMessageStartingWith("malformed number in an escape: ");
    }

    @ParameterizedTest
    @CsvSource({"007F", "0080", "0085", "009F", "2028", "2029", "FEFF", "FFFE", "FFFF"})
    void charactersThatYamlReadersRefuseOrFoldAreEscaped(String code) {
        String text = "a" + (char) Integer.parseInt(code, 16) + "b";

        assertThat(written(new JsonString(text))).isEqualTo("\"a\\u" + code + "b\"\n");
    }

    @Test
    void otherCharactersAreWrittenAsTheyAre() {
        assertThat(written(new JsonString("Größe \u00a0 \u2027 \ue000 😀")))
                .isEqualTo("\"Größe \u00a0 \u2027 \ue000 😀\"\n");
    }

    @Test
    void everyCharacterIsReadAsItWasWritten() {
        for (int c = 0; c <= 0xffff; c++) {
            if (Character.isSurrogate((char) c)) {
                continue;
            }
            // given a character alone, between others, at an end of a line, and in a key
            String text = (char) c + "a" + (char) c + "\n" + (char) c;
            JsonObject object = JsonObject.EMPTY.with(text, new JsonArray(List.of(new JsonString(text))));

            assertThat(read(written(object))).as("U+%04X", c).isEqualTo(object);
        }
    }
}
