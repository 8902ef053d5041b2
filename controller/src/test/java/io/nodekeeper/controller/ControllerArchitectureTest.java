package io.nodekeeper.controller;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The structure of the controller: small packages, one concern each, that depend on each other in one direction. */
class ControllerArchitectureTest {
    /** More classes than this in one package are several concerns. */
    private static final int LARGEST_PACKAGE = 25;
    /** The root package holds what a reader starts with. */
    private static final int LARGEST_ROOT = 8;

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("-tests.jar") && !location.contains("/test-classes/"))
            .importPackages("io.nodekeeper.controller");

    @Test
    void packagesHaveNoCircles() {
        slices().matching("io.nodekeeper.(**)").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void packagesAreSmall() {
        Map<String, Long> sizes = topLevel().stream()
                .collect(Collectors.groupingBy(JavaClass::getPackageName, TreeMap::new, Collectors.counting()));

        assertThat(sizes).hasSizeGreaterThan(15).containsKey("io.nodekeeper.controller");
        assertThat(sizes.get("io.nodekeeper.controller")).isLessThanOrEqualTo(LARGEST_ROOT);
        assertThat(sizes).allSatisfy((name, size) -> assertThat(size).as(name).isLessThanOrEqualTo(LARGEST_PACKAGE));
    }

    @Test
    void decisionsMakeNoCallsAndOwnNoTimers() {
        noClasses()
                .that()
                .haveNameMatching("io\\.nodekeeper\\.controller\\.(verdicts\\.(Judgement|Verdict|VerdictFacts)"
                        + "|observer\\.\\w+|zones\\.(Fair(Disruption|Queue)|ZoneState|ZoneCommand)|taints\\.TaintPlan"
                        + "|reference\\.(ReferenceHealth|PassDisruption|PassQueue)|flaps\\.FlapDamping)(\\$.*)?")
                .should()
                .dependOnClassesThat()
                .haveNameMatching("io\\.nodekeeper\\.(time\\.(Loop|Clock)|client\\.KubeClient)(\\$.*)?")
                .orShould()
                .dependOnClassesThat()
                .resideInAnyPackage("java.util.concurrent..", "java.nio..", "java.net..")
                .check(CLASSES);
    }

    @Test
    void onlyTheWiringReadsFeatureGates() {
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName("io.nodekeeper.controller.Controller")
                .and()
                .doNotHaveFullyQualifiedName("io.nodekeeper.controller.reference.ReferenceRules")
                .and()
                .resideOutsideOfPackage("io.nodekeeper.controller.config..")
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("io.nodekeeper.controller.config.ControllerFeature")
                .check(CLASSES);
    }

    private static Set<JavaClass> topLevel() {
        return CLASSES.stream()
                .filter(type -> type.getEnclosingClass().isEmpty()
                        && !type.getSimpleName().equals("package-info"))
                .collect(Collectors.toSet());
    }
}
