package io.nodekeeper.cli;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rules of docs/architecture.md that a machine can check, over the classes of all modules. */
class ArchitectureTest {
    /** What starts threads, waits, or reads a clock or chance: class → methods, "*" for all, "new" for constructors. */
    private static final Map<String, Set<String>> FORBIDDEN = Map.ofEntries(
            Map.entry("java.lang.System", Set.of("nanoTime", "currentTimeMillis")),
            Map.entry("java.time.Instant", Set.of("now")),
            Map.entry("java.time.LocalDateTime", Set.of("now")),
            Map.entry("java.time.OffsetDateTime", Set.of("now")),
            Map.entry("java.time.ZonedDateTime", Set.of("now")),
            Map.entry("java.time.Clock", Set.of("systemUTC", "systemDefaultZone", "system", "tickMillis")),
            Map.entry(
                    "java.lang.Thread",
                    Set.of("start", "sleep", "new", "ofVirtual", "ofPlatform", "startVirtualThread")),
            Map.entry("java.util.concurrent.Executors", Set.of("*")),
            Map.entry("java.util.concurrent.ThreadPoolExecutor", Set.of("new")),
            Map.entry("java.util.concurrent.ScheduledThreadPoolExecutor", Set.of("new")),
            Map.entry("java.util.concurrent.ForkJoinPool", Set.of("new", "commonPool")),
            Map.entry(
                    "java.util.concurrent.CompletableFuture",
                    Set.of("orTimeout", "completeOnTimeout", "delayedExecutor")),
            Map.entry("java.util.Timer", Set.of("new")),
            Map.entry("java.util.Random", Set.of("new")),
            Map.entry("java.util.concurrent.ThreadLocalRandom", Set.of("current")),
            Map.entry("java.lang.Math", Set.of("random")),
            Map.entry("java.util.UUID", Set.of("randomUUID")),
            Map.entry("java.security.SecureRandom", Set.of("new", "getInstanceStrong", "getInstance")));

    /** More classes than this in one package are several concerns; a reader can still take in a list of this length. */
    private static final int LARGEST_PACKAGE = 25;

    /** Packages that protoc generates. */
    private static final Set<String> GENERATED = Set.of(
            "io.nodekeeper.cri.v1",
            "io.nodekeeper.cri.containerd",
            "io.nodekeeper.cri.plugin.csi",
            "io.nodekeeper.cri.devices.v1beta1");

    private static JavaClasses classes = ProductClasses.none();

    @BeforeAll
    static void importClasses() {
        classes = ProductClasses.all();
    }

    @Test
    void modulesUseOnlyLowerFloors() {
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .withOptionalLayers(true)
                .layer("time")
                .definedBy("io.nodekeeper.time..")
                .layer("api")
                .definedBy("io.nodekeeper.api..")
                .layer("store")
                .definedBy(resideInAPackage("io.nodekeeper.store..")
                        .and(not(resideInAPackage("io.nodekeeper.store.etcd.."))))
                .layer("store-etcd")
                .definedBy("io.nodekeeper.store.etcd..")
                .layer("client")
                .definedBy("io.nodekeeper.client..")
                .layer("cri")
                .definedBy("io.nodekeeper.cri..")
                .layer("apiserver")
                .definedBy("io.nodekeeper.apiserver..")
                .layer("agent")
                .definedBy("io.nodekeeper.agent..")
                .layer("controller")
                .definedBy("io.nodekeeper.controller..")
                .layer("simulator")
                .definedBy("io.nodekeeper.simulator..")
                .layer("cli")
                .definedBy("io.nodekeeper.cli..")
                .whereLayer("time")
                .mayNotAccessAnyLayer()
                .whereLayer("api")
                .mayNotAccessAnyLayer()
                .whereLayer("store")
                .mayOnlyAccessLayers("time", "api")
                .whereLayer("store-etcd")
                .mayOnlyAccessLayers("time", "store")
                .whereLayer("client")
                .mayOnlyAccessLayers("time", "api")
                .whereLayer("cri")
                .mayOnlyAccessLayers("time", "api")
                .whereLayer("apiserver")
                .mayOnlyAccessLayers("time", "api", "store", "client")
                .whereLayer("agent")
                .mayOnlyAccessLayers("time", "api", "store", "client", "cri")
                .whereLayer("controller")
                .mayOnlyAccessLayers("time", "api", "store", "client")
                .whereLayer("cli")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("simulator")
                .mayOnlyBeAccessedByLayers("cli")
                .check(classes);
    }

    @Test
    void onlyTimeKnowsClocksThreadsAndChance() {
        DescribedPredicate<JavaAccess<?>> forbidden =
                describe("start threads, wait, or read clocks or chance", access -> {
                    Set<String> names =
                            FORBIDDEN.getOrDefault(access.getTargetOwner().getName(), Set.of());
                    String name = access.getName().equals("<init>") ? "new" : access.getName();
                    return names.contains("*") || names.contains(name);
                });

        noClasses()
                .that(resideInAPackage("io.nodekeeper..").and(not(resideInAPackage("io.nodekeeper.time.."))))
                .should()
                .accessTargetWhere(forbidden)
                .check(classes);
    }

    @Test
    void theRuleAboutClocksWouldFindWhatTimeDoes() {
        Set<String> owners = classes.that(resideInAPackage("io.nodekeeper.time..")).stream()
                .flatMap(type -> type.getAccessesFromSelf().stream())
                .map(access -> access.getTargetOwner().getName())
                .collect(Collectors.toSet());

        assertThat(owners)
                .contains("java.lang.System", "java.time.Instant", "java.lang.Thread", "java.security.SecureRandom");
    }

    @Test
    void theRequestCoreDoesNotKnowNetty() {
        noClasses()
                .that(resideInAPackage("io.nodekeeper.apiserver..")
                        .and(not(resideInAPackage("io.nodekeeper.apiserver.netty.."))))
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.netty..")
                .allowEmptyShould(true)
                .check(classes);
    }

    @Test
    void everyPackageIsNullMarked() {
        Set<String> packages =
                classes.stream().map(type -> type.getPackageName()).collect(Collectors.toCollection(TreeSet::new));
        List<String> unmarked = packages.stream()
                .filter(name -> !classes.contain(name + ".package-info")
                        || !classes.get(name + ".package-info").isAnnotatedWith(NullMarked.class))
                .toList();

        assertThat(packages)
                .contains("io.nodekeeper.time", "io.nodekeeper.api", "io.nodekeeper.client", "io.nodekeeper.cli");
        assertThat(unmarked).isEmpty();
    }

    @Test
    void packagesHaveNoCircles() {
        slices().matching("io.nodekeeper.(**)").should().beFreeOfCycles().check(classes);
    }

    @Test
    void packagesAreSmall() {
        Map<String, Long> larger = sizes();
        larger.values().removeIf(size -> size <= LARGEST_PACKAGE);
        larger.keySet().removeAll(GENERATED);

        assertThat(sizes()).hasSizeGreaterThan(60);
        assertThat(larger).isEmpty();
    }

    /** A root package contains the classes that a reader starts with. */
    @ParameterizedTest
    @CsvSource({"io.nodekeeper.agent, 8, 15", "io.nodekeeper.apiserver, 5, 25", "io.nodekeeper.controller, 8, 15"})
    void rootPackageIsSmallAndTheModuleHasManyPackages(String root, long largest, int packages) {
        Map<String, Long> sizes = sizes();
        sizes.keySet().removeIf(name -> !name.equals(root) && !name.startsWith(root + "."));

        assertThat(sizes).hasSizeGreaterThan(packages).containsKey(root);
        assertThat(sizes.get(root)).isLessThanOrEqualTo(largest);
    }

    /** Each module has at least {@code least} classes. Missing here is api, whose JSON values form a circle on purpose. */
    @ParameterizedTest
    @CsvSource({
        "io.nodekeeper.agent, 100",
        "io.nodekeeper.apiserver, 100",
        "io.nodekeeper.cli, 60",
        "io.nodekeeper.client, 45",
        "io.nodekeeper.controller, 100",
        "io.nodekeeper.simulator, 40",
        "io.nodekeeper.store, 25",
        "io.nodekeeper.time, 15"
    })
    void classesHaveNoCircles(String root, int least) {
        Map<JavaClass, Set<JavaClass>> remaining = new HashMap<>();
        classes.that(resideInAPackage(root + "..")).stream()
                .filter(ArchitectureTest::isTopLevel)
                .forEach(type -> remaining.put(type, new HashSet<>()));
        assertThat(remaining).hasSizeGreaterThanOrEqualTo(least);
        for (JavaClass type : classes.that(resideInAPackage(root + ".."))) {
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

    /** Top-level classes by package, all modules. */
    private static Map<String, Long> sizes() {
        return classes.stream()
                .filter(ArchitectureTest::isTopLevel)
                .collect(Collectors.groupingBy(JavaClass::getPackageName, TreeMap::new, Collectors.counting()));
    }

    private static boolean isTopLevel(JavaClass type) {
        return type.getEnclosingClass().isEmpty() && !type.getSimpleName().equals("package-info");
    }

    private static JavaClass outermost(JavaClass type) {
        JavaClass outer = type;
        while (outer.getEnclosingClass().isPresent()) {
            outer = outer.getEnclosingClass().get();
        }
        return outer;
    }
}
