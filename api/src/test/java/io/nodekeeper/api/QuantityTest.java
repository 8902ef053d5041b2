package io.nodekeeper.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonString;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantityTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "0Ki, 0",
        "1000m, 1",
        "1500m, 1500m",
        "0.5, 500m",
        "3.7, 3700m",
        "100m, 100m",
        "1000, 1k",
        "1024, 1024",
        "1024Ki, 1Mi",
        "16777216Ki, 16Gi",
        "16374532Ki, 16374532Ki",
        "1536Mi, 1536Mi",
        "0.5Ki, 512",
        "0.5Gi, 512Mi",
        "0.1Ki, 102400m",
        "1.5k, 1500",
        "12e6, 12e6",
        "1E3, 1e3",
        "1E, 1E",
        "12000000, 12M",
        "+4, 4",
        "-1Mi, -1Mi",
        ".5, 500m",
        "5., 5",
        "1n, 1n",
        "0.1n, 1n",
        "-0.1n, -1n",
        "9999999999999999999, 9223372036854775807",
        "100E, 9223372036854775807"
    })
    void writesTheCanonicalFormOfWhatItReads(String text, String canonical) {
        assertThat(Quantity.parse(text)).hasToString(canonical);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "4 ", "4Kii", "1.2.3", "Gi", "--1", "1e", "1KB", "١"})
    void refusesInvalidQuantities(String text) {
        assertThatThrownBy(() -> Quantity.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("\"" + text
                        + "\" is not a quantity; expected a number with an optional suffix, like 100m, 4, 16Gi or 1e3");
    }

    @Test
    void comparesByValueNotByText() {
        assertThat(Quantity.parse("1000m")).isEqualTo(Quantity.parse("1")).hasSameHashCodeAs(Quantity.parse("1"));
        assertThat(Quantity.parse("1Ki")).isEqualTo(Quantity.parse("1024"));
        assertThat(Quantity.parse("1Mi")).isGreaterThan(Quantity.parse("1M"));
    }

    @Test
    void addsAndSubtractsInTheFirstFormat() {
        assertThat(Quantity.parse("16Gi").minus(Quantity.parse("512Mi"))).hasToString("15872Mi");
        assertThat(Quantity.parse("4").minus(Quantity.parse("300m"))).hasToString("3700m");
        assertThat(Quantity.ZERO.plus(Quantity.parse("256Mi"))).hasToString("256Mi");
        assertThat(Quantity.parse("1").minus(Quantity.parse("2")).atLeastZero()).hasToString("0");
    }

    @Test
    void roundsUpToWholeAndMilli() {
        assertThat(Quantity.parse("1.2").toLong()).isEqualTo(2);
        assertThat(Quantity.parse("1.2").toMillis()).isEqualTo(1_200);
        assertThat(Quantity.parse("1u").toMillis()).isEqualTo(1);
        assertThat(Quantity.parse("9223372036854775807").toMillis()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void readsStringsAndNumbersFromJson() {
        assertThat(Quantity.from(new JsonString("2Gi"))).contains(Quantity.ofBytes(2_147_483_648L));
        assertThat(Quantity.from(JsonNumber.of(4))).contains(Quantity.of(4));
        assertThat(Quantity.from(JsonBool.TRUE)).isEmpty();
        assertThat(Quantity.from(new JsonString("many"))).isEmpty();
    }

    @Property
    void theCanonicalFormKeepsTheValueAndIsItsOwnCanonicalForm(@ForAll long amount, @ForAll Quantity.Format format) {
        Quantity quantity = Quantity.of(Math.max(amount, -Long.MAX_VALUE), format);

        Quantity read = Quantity.parse(quantity.toString());

        assertThat(read).isEqualTo(quantity);
        // A binary quantity that is no multiple of 1024 is written plainly, and a plain number is read as decimal.
        if (format != Quantity.Format.BINARY_SI) {
            assertThat(read).hasToString(quantity.toString());
        }
    }

    @Property
    void thousandthsSurviveTheRoundTrip(@ForAll int millis) {
        Quantity quantity = Quantity.ofMillis(millis);

        assertThat(Quantity.parse(quantity.toString()).toMillis()).isEqualTo(millis);
    }

    @Property
    void subtractingUndoesAdding(@ForAll int a, @ForAll int b) {
        assertThat(Quantity.ofMillis(a).plus(Quantity.ofBytes(b)).minus(Quantity.ofBytes(b)))
                .isEqualTo(Quantity.ofMillis(a));
    }
}
