package io.nodekeeper.apiserver;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** What only the API server's own structure demands; the rules for all packages are in {@code ArchitectureTest} of {@code cli}. */
class ApiServerArchitectureTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.nodekeeper.apiserver");

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
}
