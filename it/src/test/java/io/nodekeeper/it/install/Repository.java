package io.nodekeeper.it.install;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
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

    /** The version of the next release: the one in the parent POM without {@code -SNAPSHOT}. */
    static String version() {
        try {
            return Files.readString(root().resolve("pom.xml"))
                    .replaceAll("(?s).*<revision>(.*?)(-SNAPSHOT)?</revision>.*", "$1");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
