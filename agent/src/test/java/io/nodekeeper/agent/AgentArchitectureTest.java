package io.nodekeeper.agent;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.conditions.ArchConditions.callMethodWhere;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.properties.HasOwner;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.FileReader;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.util.Scanner;
import org.junit.jupiter.api.Test;

/** What only the agent's own structure demands; the rules for all packages are in {@code ArchitectureTest} of {@code cli}. */
class AgentArchitectureTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("-tests.jar"))
            .importPackages("io.nodekeeper.agent");

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

    /** {@code Files} reads files of {@code /proc/sys} one byte at a time and gets only the first digit of a number. */
    @Test
    void kernelFilesAreReadOnlyByKernelFile() {
        noClasses()
                .should(callMethodWhere(JavaCall.Predicates.target(HasOwner.Predicates.With.owner(type(Files.class)))
                        .and(JavaCall.Predicates.target(
                                nameMatching("read(String|AllBytes|AllLines)|lines|newBufferedReader|size")))))
                .orShould()
                .dependOnClassesThat()
                .belongToAnyOf(FileReader.class, RandomAccessFile.class, Scanner.class)
                .check(CLASSES);
    }
}
