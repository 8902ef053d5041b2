package io.nodekeeper.it.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.it.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The modules in the Java runtime of a release, compared with what the jars refer to. */
class JavaModulesIT {
    /**
     * Modules that only optional parts of libraries refer to, which look whether the classes exist: SQL types and bean
     * annotations in Jackson, SQL types in Gson, annotation processing in picocli and Error Prone's annotations, Netty's events for the flight recorder.
     */
    private static final Set<String> OPTIONAL = Set.of("java.sql", "java.desktop", "java.compiler", "jdk.jfr");

    /** Of jdeps, which reads 15,000 classes: 20 s on an idle processor. */
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private static final Pattern MODULES = Pattern.compile("^MODULES=(\\S+)$", Pattern.MULTILINE);

    @TempDir
    Path directory;

    @Test
    void runtimeHasEveryModuleThatOurOwnClassesUse() throws Exception {
        assertThat(modulesOf("nodekeeper-")).isNotEmpty().isSubsetOf(inRelease());
    }

    @Test
    @Tag("long")
    void runtimeHasEveryModuleThatLibrariesNeed() throws Exception {
        Set<String> needed = new TreeSet<>(modulesOf(""));
        needed.removeAll(OPTIONAL);

        assertThat(needed).contains("java.naming").isSubsetOf(inRelease());
    }

    private static Set<String> inRelease() throws IOException {
        Matcher list = MODULES.matcher(Files.readString(Repository.root().resolve("scripts/release.sh")));
        assertThat(list.find()).as("MODULES=... in scripts/release.sh").isTrue();
        return Set.of(list.group(1).split(","));
    }

    /** The JDK's modules that classes in jars refer to, whose names begin with {@code prefix}. */
    private Set<String> modulesOf(String prefix) throws IOException, InterruptedException {
        Path classes = directory.resolve("classes" + prefix);
        try (Stream<Path> jars = Files.list(Repository.dist().resolve("lib"))) {
            for (Path jar : jars.filter(file -> file.getFileName().toString().startsWith(prefix))
                    .toList()) {
                unpack(jar, classes);
            }
        }
        Command.Result result = Command.run(
                LIMIT,
                Path.of(System.getProperty("java.home"), "bin", "jdeps").toString(),
                "-J-Xmx1g",
                "--ignore-missing-deps",
                "-summary",
                classes.toString());
        assertThat(result.code()).as(result.output()).isZero();
        Set<String> modules = new TreeSet<>();
        for (String line : result.output().lines().toList()) {
            String module = line.replaceFirst(".* -> ", "");
            if (module.startsWith("java.") || module.startsWith("jdk.")) {
                modules.add(module);
            }
        }
        return modules;
    }

    /** Classes alone: with their module descriptors, jdeps would ask for optional modules of libraries. */
    private static void unpack(Path jar, Path target) throws IOException {
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            for (ZipEntry entry : zip.stream().toList()) {
                String name = entry.getName();
                if (name.endsWith(".class") && !name.startsWith("META-INF/") && !name.endsWith("module-info.class")) {
                    Path file = target.resolve(name).normalize();
                    assertThat(file.startsWith(target)).as(name + " of " + jar).isTrue();
                    Files.createDirectories(file.getParent());
                    Files.write(file, zip.getInputStream(entry).readAllBytes());
                }
            }
        }
    }
}
