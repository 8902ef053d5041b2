package io.nodekeeper.controller.heartbeats;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which of two resource versions may be the newer one. */
class VersionsTest {
    @ParameterizedTest
    @CsvSource({"8, 7", "10, 9", "100, 99", "10000000000000000000, 9999999999999999999", "90, 09"})
    void largerNumberIsNewer(String newer, String older) {
        assertThat(Versions.isNewer(newer, older)).isTrue();
        assertThat(Versions.isNewer(older, newer)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"7", "abc", "''"})
    void sameVersionIsNotNewer(String version) {
        assertThat(Versions.isNewer(version, version)).isFalse();
        assertThat(Versions.isNewer(Versions.number(version), Versions.number(version)))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({"abc, abd", "7, abc", "7, ''", "7, 7/", "7, 7:", "7, -8"})
    void whatIsNoNumberMayBeNewerThanAnythingElse(String one, String other) {
        assertThat(Versions.isNewer(one, other)).isTrue();
        assertThat(Versions.isNewer(other, one)).isTrue();
        assertThat(Versions.isNewer(Versions.number(one), Versions.number(other)))
                .isTrue();
        assertThat(Versions.isNewer(Versions.number(other), Versions.number(one)))
                .isTrue();
    }

    @Test
    void numberOfEighteenDigitsIsItself() {
        assertThat(Versions.number("0")).isZero();
        assertThat(Versions.number("9")).isEqualTo(9);
        assertThat(Versions.number("999999999999999999")).isEqualTo(999_999_999_999_999_999L);
    }

    @Test
    void anythingElseIsANegativeNumberOfItsOwn() {
        assertThat(Versions.number("")).isEqualTo(-1);
        // The hash code of "a" is 97, that of "polygenelubricants" the smallest there is.
        assertThat(Versions.number("a")).isEqualTo(-98);
        assertThat(Versions.number("polygenelubricants")).isEqualTo(-2_147_483_649L);
        assertThat(Versions.number("1000000000000000000")).isNegative();
    }

    @Test
    void numbersInSixtyFourBitsCompareAsTexts() {
        assertThat(Versions.isNewer(8, 7)).isTrue();
        assertThat(Versions.isNewer(7, 8)).isFalse();
        assertThat(Versions.isNewer(0, 1)).isFalse();
        assertThat(Versions.isNewer(1, 0)).isTrue();
        assertThat(Versions.isNewer(-5, 7)).isTrue();
        assertThat(Versions.isNewer(7, -5)).isTrue();
        assertThat(Versions.isNewer(-5, -4)).isTrue();
    }
}
