package io.nodekeeper.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Words that a person may have meant. */
class NearestTest {
    @Test
    void distanceIsTheNumberOfLettersToChange() {
        assertThat(Nearest.distance("", "")).isZero();
        assertThat(Nearest.distance("why", "why")).isZero();
        assertThat(Nearest.distance("wyh", "why")).as("swapped").isEqualTo(1);
        assertThat(Nearest.distance("wh", "why")).as("missing").isEqualTo(1);
        assertThat(Nearest.distance("whyy", "why")).as("too many").isEqualTo(1);
        assertThat(Nearest.distance("wxy", "why")).as("wrong").isEqualTo(1);
        assertThat(Nearest.distance("kitten", "sitting")).isEqualTo(3);
    }

    @Test
    void nearestWordsComeFirstAndFarOnesNotAtAll() {
        assertThat(Nearest.near("node-71", List.of("node-17", "node-70", "node-99", "other")))
                .containsExactly("node-17", "node-70", "node-99");
        assertThat(Nearest.near("zzz", List.of("up", "why"))).isEmpty();
        assertThat(Nearest.hint("staus", List.of("status"))).contains("did you mean status?");
    }

    @Test
    void workIsBoundedWhateverIsTyped() {
        List<String> words = IntStream.range(0, 50_000).mapToObj(i -> "n" + i).toList();

        assertThat(Nearest.near("a".repeat(100_000), words)).isEmpty();
        assertThat(Nearest.near("n49999", words))
                .as("only the first 20,000 are compared")
                .doesNotContain("n49999");
    }
}
