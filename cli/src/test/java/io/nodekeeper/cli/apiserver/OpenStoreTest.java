package io.nodekeeper.cli.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.store.Store;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What others on the machine see of a store: nothing. */
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

        open(options);
        assertThat(mode(directory.resolve("store"))).isEqualTo("rwx------");

        // given a store of before
        Files.setPosixFilePermissions(directory.resolve("store"), PosixFilePermissions.fromString("rwxr-xr-x"));
        Path current = directory.resolve("store").resolve("CURRENT");
        Files.setPosixFilePermissions(current, PosixFilePermissions.fromString("rw-r--r--"));
        open(options);
        assertThat(mode(directory.resolve("store"))).isEqualTo("rwx------");
    }

    private static void open(ApiServerOptions options) throws Exception {
        ThreadLoop loop = new ThreadLoop("store");
        try {
            Store store = OpenStore.begin(options, loop).get(1, TimeUnit.MINUTES);
            store.close().get(1, TimeUnit.MINUTES);
        } finally {
            loop.close();
        }
    }
}
