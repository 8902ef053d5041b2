package io.nodekeeper.cli.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Who may write the store of a data directory. */
class StoreOwnerTest {
    private static final Path DATA = Path.of("/var/lib/nodekeeper");

    @Test
    void theOwnerMayWrite() {
        assertThat(StoreOwner.fault(DATA, "nodekeeper", "nodekeeper")).isEmpty();
        assertThat(StoreOwner.fault(DATA, "root", "root")).isEmpty();
    }

    @Test
    void anotherUserAndRootMayNotAndAreToldHow() {
        assertThat(StoreOwner.fault(DATA, "nodekeeper", "root"))
                .hasValue("--data-dir /var/lib/nodekeeper belongs to the user nodekeeper, who could not open what root"
                        + " writes there; expected this command as that user: runuser -u nodekeeper -- nodekeeper"
                        + " apiserver ...");
        assertThat(StoreOwner.fault(DATA, "nodekeeper", "alice")).isPresent();
    }

    @Test
    void whoMayWriteInADirectoryOfRootMayWriteAStore() {
        assertThat(StoreOwner.fault(DATA, "root", "65532")).isEmpty();
    }
}
