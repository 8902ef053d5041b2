package io.nodekeeper.controller;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Rules that only the controller needs; the rules for all packages are in {@code ArchitectureTest} of {@code cli}. */
class ControllerArchitectureTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("-tests.jar") && !location.contains("/test-classes/"))
            .importPackages("io.nodekeeper.controller");

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
}
