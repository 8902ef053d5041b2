package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The checksum of rows. SHA-256 of "a" begins with ca978112ca1bbdca, of "ab" with fb8e20fc2e4c3f24. */
class RowChecksumTest {
    private final RowChecksum sum = new RowChecksum();

    @Test
    void rowsAreCountedAndSummed() {
        sum.add(bytes("a"));
        assertThat(sum).hasToString("1 rows, sum ca978112ca1bbdca");

        sum.add(bytes("a"), bytes("b"));
        assertThat(sum.count()).isEqualTo(2);
        // ca978112ca1bbdca + fb8e20fc2e4c3f24, modulo 2^64
        assertThat(sum).hasToString("2 rows, sum c625a20ef867fcee");
    }

    @Test
    void rowsThatAreTakenAwayLeaveNothing() {
        sum.add(bytes("a"));
        sum.add(bytes("a"), bytes("b"));

        sum.remove(bytes("a"));
        assertThat(sum).hasToString("1 rows, sum fb8e20fc2e4c3f24");
        sum.remove(bytes("a"), bytes("b"));

        assertThat(sum).hasToString("0 rows, sum 0");
    }

    @Test
    void copyIsIndependent() {
        sum.add(bytes("a"));
        RowChecksum copy = sum.copy();

        copy.add(bytes("ab"));

        assertThat(copy.count()).isEqualTo(2);
        assertThat(sum).hasToString("1 rows, sum ca978112ca1bbdca");
    }

    @Test
    void storedFormHasRevisionCountAndSum() {
        sum.add(bytes("a"));

        byte[] encoded = sum.encode(7);

        assertThat(encoded)
                .containsExactly(
                        0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1, 0xca, 0x97, 0x81, 0x12, 0xca, 0x1b, 0xbd, 0xca);
        assertThat(RowChecksum.count(encoded)).isEqualTo(1);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
