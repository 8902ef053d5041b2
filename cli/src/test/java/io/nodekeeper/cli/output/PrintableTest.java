package io.nodekeeper.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import org.junit.jupiter.api.Test;

class PrintableTest {
    @Test
    void characterThatControlsATerminalBecomesItsCodePoint() {
        assertThat(Printable.line("a\u001b[2Jb\u009b2J\rc\u2028d\u2029e\u202ef\ud800"))
                .isEqualTo("aU+001B[2JbU+009B2JU+000DcU+2028dU+2029eU+202EfU+D800");
    }

    @Test
    void lineEndsOnlyWhereTextMayHaveSeveralLines() {
        assertThat(Printable.line("a\nb\tc")).isEqualTo("a b c");
        assertThat(Printable.text("a\nb\tc\u0007")).isEqualTo("a\nb\tcU+0007");
    }

    @Test
    void otherTextStaysAsItIs() {
        assertThat(Printable.text("über 10 µs: 節点 \ud83d\ude00")).isEqualTo("über 10 µs: 節点 \ud83d\ude00");
    }

    @Test
    void middleOfALongTextIsLeftOut() {
        assertThat(Printable.line("0123456789", 4)).isEqualTo("01 ... 89");
        assertThat(Printable.text("0123", 4)).isEqualTo("0123");
    }

    @Test
    void jsonKeepsItsContent() {
        JsonObject object = JsonObject.EMPTY.with("a", "\u009b2J\u202e\udb40\udc01\nb");

        String shown = Printable.json(Json.writePretty(object));

        assertThat(shown).contains("\\u009b2J\\u202e\\udb40\\udc01\\nb").contains("{\n");
        assertThat(Json.parseObject(shown)).isEqualTo(object);
    }
}
