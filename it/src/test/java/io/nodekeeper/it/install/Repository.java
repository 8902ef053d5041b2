package io.nodekeeper.it.install;

import java.nio.file.Path;

/** Where this repository and its distribution are. */
final class Repository {
    private Repository() {}

    static Path root() {
        return Path.of("..").toAbsolutePath().normalize();
    }

    /** The built distribution. */
    static Path dist() {
        return Path.of(System.getProperty("nodekeeper.dist", "../dist/target/nodekeeper"))
                .toAbsolutePath()
                .normalize();
    }
}
