package io.nodekeeper.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which texts are IP addresses. */
class IpLiteralTest {
    @ParameterizedTest
    @CsvSource({
        "10.0.0.1, 10.0.0.1",
        "255.255.255.255, 255.255.255.255",
        "0.0.0.0, 0.0.0.0",
        "fd00::5, fd00:0:0:0:0:0:0:5",
        "::, 0:0:0:0:0:0:0:0"
    })
    void shouldReadAddresses(String text, String address) {
        assertThat(IpLiteral.of(text))
                .hasValueSatisfying(found -> assertThat(found.getHostAddress()).isEqualTo(address));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "n1",
                "1234",
                "10.1",
                "10.0.1",
                "256.0.0.1",
                "10.0.0.1.",
                "1.2.3.4.5",
                "0x7f.0.0.1",
                "fd00:",
                ":"
            })
    void shouldNotTakeNamesForAddresses(String text) {
        assertThat(IpLiteral.of(text)).isEmpty();
    }

    /** RFC 5952, section 4.2, and what a kubelet prints. */
    @ParameterizedTest
    @CsvSource({
        "10.0.0.1, 10.0.0.1",
        "fd00:0:0:0:0:0:0:5, fd00::5",
        "0:0:0:0:0:0:0:0, ::",
        "0:0:0:0:0:0:0:1, ::1",
        "fe80:0:0:0:0:0:0:0, fe80::",
        "2001:DB8:0:1:1:1:1:1, 2001:db8:0:1:1:1:1:1",
        "2001:db8:0:0:1:0:0:1, 2001:db8::1:0:0:1",
        "2001:0:0:1:0:0:0:1, 2001:0:0:1::1",
        "0:0:1:0:0:1:1:1, ::1:0:0:1:1:1",
        "100:0:0:10:20:30:40:50, 100::10:20:30:40:50"
    })
    void shouldWriteAddressesShort(String full, String text) {
        InetAddress address = InetAddress.ofLiteral(full);

        assertThat(IpLiteral.text(address)).isEqualTo(text);
        assertThat(IpLiteral.of(text)).contains(address);
    }
}
