package io.nodekeeper.cli;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.conditions.ArchConditions.callMethodWhere;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.properties.HasOwner;
import java.io.FileReader;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.util.Scanner;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the structure of a single module demands; the rules for all modules are in {@link ArchitectureTest}. */
class ModuleArchitectureTest {
    private static JavaClasses classes = ProductClasses.none();

    @BeforeAll
    static void importClasses() {
        classes = ProductClasses.all();
    }

    @Test
    void rulesOfObjectsInTheApiServerReadNothingAndKnowNoStore() {
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
                .check(classes);
    }

    @Test
    void diagnosisInTheAgentReadsNoFilesAndMakesNoCalls() {
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
                .check(classes);
    }

    @Test
    void statusAndEvictionInTheAgentReadNoFilesAndMakeNoCalls() {
        noClasses()
                .that()
                .resideInAnyPackage("io.nodekeeper.agent.status..", "io.nodekeeper.agent.eviction..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.io..", "java.nio.file..", "java.util.concurrent..")
                .orShould()
                .dependOnClassesThat()
                .haveFullyQualifiedName("io.nodekeeper.client.KubeClient")
                .check(classes);
    }

    /** {@code Files} reads files of {@code /proc/sys} one byte at a time and gets only the first digit of a number. */
    @Test
    void kernelFilesAreReadOnlyByKernelFile() {
        noClasses()
                .that()
                .resideInAPackage("io.nodekeeper.agent..")
                .should(callMethodWhere(JavaCall.Predicates.target(HasOwner.Predicates.With.owner(type(Files.class)))
                        .and(JavaCall.Predicates.target(
                                nameMatching("read(String|AllBytes|AllLines)|lines|newBufferedReader|size")))))
                .orShould()
                .dependOnClassesThat()
                .belongToAnyOf(FileReader.class, RandomAccessFile.class, Scanner.class)
                .check(classes);
    }

    @Test
    void decisionsOfTheControllerMakeNoCallsAndOwnNoTimers() {
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
                .check(classes);
    }

    @Test
    void onlyTheWiringOfTheControllerReadsFeatureGates() {
        noClasses()
                .that()
                .resideInAPackage("io.nodekeeper.controller..")
                .and()
                .doNotHaveFullyQualifiedName("io.nodekeeper.controller.Controller")
                .and()
                .doNotHaveFullyQualifiedName("io.nodekeeper.controller.reference.ReferenceRules")
                .and()
                .resideOutsideOfPackage("io.nodekeeper.controller.config..")
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("io.nodekeeper.controller.config.ControllerFeature")
                .check(classes);
    }
}
