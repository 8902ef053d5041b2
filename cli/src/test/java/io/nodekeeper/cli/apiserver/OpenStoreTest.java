package io.nodekeeper.cli.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What others on the machine see of a store: nothing; and what it keeps in memory. */
class OpenStoreTest {
    @TempDir
    Path directory;

    private static String mode(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    @Test
    void theStoresDirectoryIsItsOwnersAloneAlsoIfItWasOpenBefore() throws Exception {
        ApiServerOptions options = new ApiServerOptions();
        options.data.dir = directory;

        open(options, store -> {});
        assertThat(mode(directory.resolve("store"))).isEqualTo("rwx------");

        // given a store of before
        Files.setPosixFilePermissions(directory.resolve("store"), PosixFilePermissions.fromString("rwxr-xr-x"));
        Path current = directory.resolve("store").resolve("CURRENT");
        Files.setPosixFilePermissions(current, PosixFilePermissions.fromString("rw-r--r--"));
        open(options, store -> {});
        assertThat(mode(directory.resolve("store"))).isEqualTo("rwx------");
    }

    @Test
    void valuesOfEventsStayOnDiskAndThoseOfLeasesInMemory() throws Exception {
        ApiServerOptions options = new ApiServerOptions();
        options.data.dir = directory;
        String event = Resources.EVENTS.key("default", "e1");
        String lease = "/registry/leases/kube-node-lease/n1";

        open(options, store -> {
            store.put(event, new byte[500], 0).join();
            store.put(lease, new byte[500], 0).join();
            assertThat(store.get(event).orElseThrow().resident()).isZero();
            assertThat(store.get(lease).orElseThrow().resident()).isEqualTo(500);
        });

        open(options, store -> {
            assertThat(store.get(event).orElseThrow().resident()).isZero();
            assertThat(store.get(event).orElseThrow().value()).hasSize(500);
            assertThat(store.get(lease).orElseThrow().resident()).isEqualTo(500);
        });
    }

    private static void open(ApiServerOptions options, Consumer<Store> use) throws Exception {
        ThreadLoop loop = new ThreadLoop("store");
        try {
            Store store = OpenStore.begin(options, loop).get(1, TimeUnit.MINUTES);
            use.accept(store);
            store.close().get(1, TimeUnit.MINUTES);
        } finally {
            loop.close();
        }
    }
}
