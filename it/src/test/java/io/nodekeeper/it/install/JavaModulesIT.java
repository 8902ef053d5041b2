package io.nodekeeper.it.install;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.MethodTypeEntry;
import java.lang.classfile.constantpool.NameAndTypeEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;

/** The modules in the Java runtime of a release, compared with what the jars refer to. */
class JavaModulesIT {
    /**
     * Modules that only optional parts of libraries refer to, which look whether the classes exist: SQL types and bean
     * annotations in Jackson, SQL types in Gson, annotation processing in picocli and Error Prone's annotations, Netty's events for the flight recorder.
     */
    private static final Set<String> OPTIONAL = Set.of("java.sql", "java.desktop", "java.compiler", "jdk.jfr");

    private static final Pattern MODULES = Pattern.compile("^MODULES=(\\S+)$", Pattern.MULTILINE);
    /** The package of a class in a descriptor or a generic signature. */
    private static final Pattern PACKAGE = Pattern.compile("L([\\w/]+)/[\\w$]+[;<]");

    /** The modules of the JDK by package, with slashes. */
    private static final Map<String, String> BY_PACKAGE = modulesByPackage();

    @Test
    void runtimeHasEveryModuleThatOurOwnClassesUse() throws Exception {
        assertThat(modulesOf("nodekeeper-")).contains("java.base").isSubsetOf(inRelease());
    }

    @Test
    void runtimeHasEveryModuleThatLibrariesNeed() throws Exception {
        Set<String> needed = modulesOf("");

        // Without these references of libraries the search would find too little.
        assertThat(needed).contains("java.naming").containsAll(OPTIONAL);
        needed.removeAll(OPTIONAL);
        assertThat(needed).isSubsetOf(inRelease());
    }

    private static Set<String> inRelease() throws IOException {
        Matcher list = MODULES.matcher(Files.readString(Repository.root().resolve("scripts/release.sh")));
        assertThat(list.find()).as("MODULES=... in scripts/release.sh").isTrue();
        return Set.of(list.group(1).split(","));
    }

    private static Map<String, String> modulesByPackage() {
        Map<String, String> modules = new HashMap<>();
        ModuleFinder.ofSystem().findAll().forEach(module -> {
            ModuleDescriptor descriptor = module.descriptor();
            descriptor.packages().forEach(name -> modules.put(name.replace('.', '/'), descriptor.name()));
        });
        return modules;
    }

    /** The JDK's modules that classes refer to, in jars whose names begin with {@code prefix}. */
    private static Set<String> modulesOf(String prefix) throws IOException {
        Set<String> packages = new TreeSet<>();
        try (Stream<Path> jars = Files.list(Repository.dist().resolve("lib"))) {
            for (Path jar : jars.filter(file -> file.getFileName().toString().startsWith(prefix))
                    .toList()) {
                collect(jar, packages);
            }
        }
        Set<String> modules = new TreeSet<>();
        for (String name : packages) {
            String module = BY_PACKAGE.getOrDefault(name, "");
            if (!module.isEmpty()) {
                modules.add(module);
            }
        }
        return modules;
    }

    /** Of versions for several Java releases, the one outside META-INF. */
    private static void collect(Path jar, Set<String> packages) throws IOException {
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            for (ZipEntry entry : zip.stream().toList()) {
                String name = entry.getName();
                if (name.endsWith(".class") && !name.startsWith("META-INF/") && !name.endsWith("module-info.class")) {
                    collect(ClassFile.of().parse(zip.getInputStream(entry).readAllBytes()), packages);
                }
            }
        }
    }

    /** The packages of the classes that {@code type} names in code, descriptors and generic signatures. */
    private static void collect(ClassModel type, Set<String> packages) {
        for (PoolEntry entry : type.constantPool()) {
            switch (entry) {
                case ClassEntry named -> {
                    String name = named.asInternalName();
                    if (name.startsWith("[")) {
                        collect(name, packages);
                    } else if (name.contains("/")) {
                        packages.add(name.substring(0, name.lastIndexOf('/')));
                    }
                }
                case NameAndTypeEntry member -> collect(member.type().stringValue(), packages);
                case MethodTypeEntry method -> collect(method.descriptor().stringValue(), packages);
                default -> {}
            }
        }
        type.findAttribute(Attributes.signature())
                .ifPresent(signature -> collect(signature.signature().stringValue(), packages));
        type.fields().forEach(field -> {
            collect(field.fieldType().stringValue(), packages);
            field.findAttribute(Attributes.signature())
                    .ifPresent(signature -> collect(signature.signature().stringValue(), packages));
        });
        type.methods().forEach(method -> {
            collect(method.methodType().stringValue(), packages);
            method.findAttribute(Attributes.signature())
                    .ifPresent(signature -> collect(signature.signature().stringValue(), packages));
        });
    }

    private static void collect(String descriptor, Set<String> packages) {
        Matcher reference = PACKAGE.matcher(descriptor);
        while (reference.find()) {
            packages.add(reference.group(1));
        }
    }
}
