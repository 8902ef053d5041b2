package io.nodekeeper.agent;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The structure of the agent: small packages, one concern each, that depend on each other in one direction. */
class AgentArchitectureTest {
    /** A package with more classes than this has several concerns. */
    private static final int LARGEST_PACKAGE = 25;
    /** The root package contains the classes that a reader starts with. */
    private static final int LARGEST_ROOT = 8;

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("-tests.jar"))
            .importPackages("io.nodekeeper.agent");

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
                if (!from.equals(to) && remaining.containsKey(to)) {
                    remaining.computeIfAbsent(from, first -> new HashSet<>()).add(to);
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

        assertThat(sizes).hasSizeGreaterThan(15).containsKey("io.nodekeeper.agent");
        assertThat(sizes.get("io.nodekeeper.agent")).isLessThanOrEqualTo(LARGEST_ROOT);
        assertThat(sizes).allSatisfy((name, size) -> assertThat(size).as(name).isLessThanOrEqualTo(LARGEST_PACKAGE));
    }

    @Test
    void diagnosisReadsNoFilesAndMakesNoCalls() {
        noClasses()
                .that()
                .resideInAPackage("io.nodekeeper.agent.culprit.diagnosis..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.io..", "java.nio..", "java.util.concurrent..", "java.net..")
                .orShould()
                .dependOnClassesThat()
                .haveFullyQualifiedName("io.nodekeeper.cri.ContainerRuntime")
                .orShould()
                .dependOnClassesThat()
                .haveFullyQualifiedName("io.nodekeeper.time.Loop")
                .check(CLASSES);
    }

    @Test
    void statusAndEvictionReadNoFilesAndMakeNoCalls() {
        noClasses()
                .that()
                .resideInAnyPackage("io.nodekeeper.agent.status..", "io.nodekeeper.agent.eviction..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.io..", "java.nio.file..", "java.util.concurrent..")
                .orShould()
                .dependOnClassesThat()
                .haveFullyQualifiedName("io.nodekeeper.client.KubeClient")
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
