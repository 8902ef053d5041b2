package io.nodekeeper.cli;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

/** The classes of all modules without their tests. They are imported once, since that takes seconds. */
final class ProductClasses {
    private ProductClasses() {}

    /** All of them. */
    static JavaClasses all() {
        return Imported.CLASSES;
    }

    /** No classes: what a field holds before a test begins. */
    static JavaClasses none() {
        return new ClassFileImporter().importClasses();
    }

    private static final class Imported {
        static final JavaClasses CLASSES = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .withImportOption(location -> !location.contains("-tests.jar"))
                .importPackages("io.nodekeeper");
    }
}
