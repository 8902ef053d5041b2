package io.nodekeeper.cli.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SourceOptionsTest {
    @ParameterizedTest
    @CsvSource({
        "https:nodekeeper-controller:10257, nodekeeper-controller, 10257, https",
        "http:controller:pages,             controller,            pages, http",
        "controller:pages,                  controller,            pages, http",
        "https:10257,                       https,                 10257, http",
        "https:https:pages,                 https,                 pages, https"
    })
    void shouldForwardThePortOfAServiceThatMayHaveTheNameOfAScheme(
            String service, String name, String port, String scheme) {
        SourceOptions options = new SourceOptions();
        options.service = service;

        assertThat(options.portForward())
                .isEqualTo("kubectl -n kube-system port-forward service/" + name + " 10257:" + port);
        assertThat(options.forwarded()).isEqualTo(URI.create(scheme + "://127.0.0.1:10257"));
    }
}
