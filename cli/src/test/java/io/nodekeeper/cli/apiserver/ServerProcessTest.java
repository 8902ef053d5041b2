package io.nodekeeper.cli.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers and the data directory that they share. */
class ServerProcessTest {
    @TempDir
    Path data;

    private ApiServerOptions options(List<String> names) {
        ApiServerOptions options = new ApiServerOptions();
        options.data.dir = data;
        options.store = ApiServerOptions.Store.memory;
        options.bindAddress = "127.0.0.1";
        options.securePort = 0;
        options.tlsSans = names;
        return options;
    }

    /** It would show a certificate for its own names to the clients of the first one. */
    @Test
    void aSecondServerIsRefusedBeforeItChangesTheCertificatesOfTheFirst() throws Exception {
        ServerProcess first = ServerProcess.start(options(List.of("api.example")));
        Path certificate = data.resolve("pki/apiserver.crt");
        String shown = Files.readString(certificate);

        assertThatThrownBy(() -> ServerProcess.start(options(List.of("other.example"))))
                .hasMessage("the data directory " + data
                        + " is in use by this process; stop it, or use another --data-dir");

        assertThat(certificate).hasContent(shown);
        first.stop();

        ServerProcess next = ServerProcess.start(options(List.of("other.example")));
        assertThat(Files.readString(certificate)).isNotEqualTo(shown);
        next.stop();
    }
}
