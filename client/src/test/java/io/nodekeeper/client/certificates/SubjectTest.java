package io.nodekeeper.client.certificates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import java.util.List;
import javax.security.auth.x500.X500Principal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SubjectTest {
    /** The text form begins with the last part; {@code +} joins the values of one part. */
    private static Subject subject(String name) {
        return Subject.of(new X500Principal(name));
    }

    private static Subject encoded(String hex) {
        return Subject.of(new X500Principal(HexFormat.of().parseHex(hex)));
    }

    @Test
    void everyOrganizationCountsInOnePartOrInSeveral() {
        assertThat(subject("CN=eve,O=a+O=b")).isEqualTo(new Subject("eve", List.of("a", "b")));
        assertThat(subject("CN=eve,O=b,O=a")).isEqualTo(new Subject("eve", List.of("a", "b")));
        assertThat(subject("CN=eve,O=a+O=a")).isEqualTo(new Subject("eve", List.of("a", "a")));
        assertThat(subject("CN=eve,O=a,O=a")).isEqualTo(new Subject("eve", List.of("a", "a")));
    }

    @Test
    void nameAndOrganizationsMayBeValuesOfOnePart() {
        assertThat(subject("CN=eve+O=system:masters")).isEqualTo(new Subject("eve", List.of("system:masters")));
        assertThat(subject("O=b,CN=eve+O=a+OU=unit,C=DE")).isEqualTo(new Subject("eve", List.of("a", "b")));
    }

    @Test
    void lastNameCounts() {
        assertThat(subject("CN=last,CN=first").commonName()).isEqualTo("last");
        assertThat(subject("CN=b+CN=a").commonName()).isEqualTo("b");
        assertThat(subject("CN=same+CN=same").commonName()).isEqualTo("same");
        assertThat(subject("O=a")).isEqualTo(new Subject("", List.of("a")));
        assertThat(subject("")).isEqualTo(new Subject("", List.of()));
    }

    /** SEQUENCE { SET { SEQUENCE { CN, text }}}, once in each kind of text. */
    @ParameterizedTest
    @CsvSource({
        "300d310b300906035504030c02c3a9, é",
        "300c310a30080603550403120137, 7",
        "300c310a30080603550403130161, a",
        "300c310a300806035504031401e9, é",
        "300c310a30080603550403160140, @",
        "300f310d300b06035504031c04000000e9, é",
        "300d310b300906035504031e0200e9, é",
    })
    void textsOfEachKindAreRead(String hex, String name) {
        assertThat(encoded(hex).commonName()).isEqualTo(name);
    }

    @Test
    void valueThatIsNoTextIsRefused() {
        assertThatThrownBy(() -> encoded("300c310a30080603550403020107"))
                .hasMessage("a value of the subject is no text");
        assertThatThrownBy(() -> encoded("300c310a300806035504030c01ff"))
                .hasMessage("a value of the subject is not in its character set");
    }
}
