package io.nodekeeper.client.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What TLS shows to a server, as Go's client does. */
class ServerNameTest {
    @ParameterizedTest
    @CsvSource({
        "https://api.example:6443, '', api.example",
        "https://10.0.0.1:6443, '', ''",
        "https://10.0.0.1:6443, kubernetes, kubernetes",
        "https://api.example, kubernetes, kubernetes",
        "https://api.example, 10.0.0.1, ''",
        "https://[::1]:6443, '', ''"
    })
    void tlsShowsTheGivenNameOrThatOfTheHostButNoAddress(String server, String given, String shown) throws Exception {
        List<SNIServerName> names = Optional.ofNullable(ServerName.of(URI.create(server), true, given)
                        .engine(SSLContext.getDefault())
                        .getSSLParameters()
                        .getServerNames())
                .orElse(List.of());

        assertThat(names.stream().map(name -> ((SNIHostName) name).getAsciiName()))
                .containsExactlyElementsOf(shown.isEmpty() ? List.of() : List.of(shown));
    }
}
