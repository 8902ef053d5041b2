package io.nodekeeper.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which taints a toleration matches. */
class TolerationTest {
    @ParameterizedTest
    @Tag("L62")
    @CsvSource({
        // key, operator, value, effect, tolerates k=v:NoExecute
        "k, Exists, '', NoExecute, true",
        "k, Exists, '', '', true",
        "k, Exists, other, '', true",
        "k, Exists, '', NoSchedule, false",
        "other, Exists, '', NoExecute, false",
        "'', Exists, '', NoExecute, true",
        "'', Exists, '', '', true",
        "'', Equal, v, NoExecute, false",
        "'', '', v, NoExecute, false",
        "k, Equal, v, NoExecute, true",
        "k, '', v, NoExecute, true",
        "k, Equal, w, NoExecute, false",
        "k, '', '', NoExecute, false",
        "k, Gt, v, NoExecute, false",
    })
    void matchesByEffectKeyAndOperator(String key, String operator, String value, String effect, boolean expected) {
        Toleration toleration = new Toleration(key, operator, value, effect, Optional.empty());
        Taint taint =
                new Taint(JsonObject.EMPTY.with("key", "k").with("value", "v").with("effect", "NoExecute"));
        assertThat(toleration.tolerates(taint)).isEqualTo(expected);
    }
}
