package io.nodekeeper.apiserver;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The structure of the API server: small packages, one concern each, that depend on each other in one direction. */
class ApiServerArchitectureTest {
    /** More classes than this in one package are several concerns. */
    private static final int LARGEST_PACKAGE = 25;
    /** The root package holds what a reader starts with. */
    private static final int LARGEST_ROOT = 5;

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.nodekeeper.apiserver");

    @Test
    void packagesHaveNoCircles() {
        slices().matching("io.nodekeeper.(**)").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void classesHaveNoCircles() {
        Map<JavaClass, Set<JavaClass>> remaining = new HashMap<>();
        topLevel().forEach(type -> remaining.put(type, new HashSet<>()));
        for (JavaClass type : CLASSES) {
            for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                JavaClass from = outermost(type);
                JavaClass to = outermost(dependency.getTargetClass().getBaseComponentType());
                if (!from.equals(to) && remaining.containsKey(from) && remaining.containsKey(to)) {
                    remaining.get(from).add(to);
                }
            }
        }

        // Removes classes that depend on no remaining class; a circle is never removed.
        boolean removed = true;
        while (removed) {
            Set<JavaClass> free = remaining.entrySet().stream()
                    .filter(entry -> entry.getValue().isEmpty())
                    .map(Map.Entry::getKey)
                    .collect(Collectors.toSet());
            free.forEach(remaining::remove);
            remaining.values().forEach(targets -> targets.removeAll(free));
            removed = !free.isEmpty();
        }

        assertThat(remaining.keySet()).isEmpty();
    }

    @Test
    void packagesAreSmall() {
        Map<String, Long> sizes = topLevel().stream()
                .collect(Collectors.groupingBy(JavaClass::getPackageName, TreeMap::new, Collectors.counting()));

        assertThat(sizes).hasSizeGreaterThan(25).containsKey("io.nodekeeper.apiserver");
        assertThat(sizes.get("io.nodekeeper.apiserver")).isLessThanOrEqualTo(LARGEST_ROOT);
        assertThat(sizes).allSatisfy((name, size) -> assertThat(size).as(name).isLessThanOrEqualTo(LARGEST_PACKAGE));
    }

    @Test
    void everyPackageSaysWhatItIsFor() {
        Set<JavaPackage> packages =
                topLevel().stream().map(JavaClass::getPackage).collect(Collectors.toSet());

        assertThat(packages)
                .isNotEmpty()
                .allSatisfy(room ->
                        assertThat(room.tryGetPackageInfo()).as(room.getName()).isPresent());
    }

    @Test
    void rulesOfObjectsReadNothingAndKnowNoStore() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "io.nodekeeper.apiserver.authorization.rbac..",
                        "io.nodekeeper.apiserver.fields..",
                        "io.nodekeeper.apiserver.kinds..",
                        "io.nodekeeper.apiserver.pods..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.nio.file..", "java.util.concurrent..", "io.nodekeeper.store..")
                .check(CLASSES);
    }

    private static Set<JavaClass> topLevel() {
        return CLASSES.stream()
                .filter(type -> type.getEnclosingClass().isEmpty()
                        && !type.getSimpleName().equals("package-info"))
                .collect(Collectors.toSet());
    }

    private static JavaClass outermost(JavaClass type) {
        JavaClass outer = type;
        while (outer.getEnclosingClass().isPresent()) {
            outer = outer.getEnclosingClass().get();
        }
        return outer;
    }
}
