package dev.space.verification;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import dev.space.model.lifecycle.Decision;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The boundaries between modules, each with its reason. Classes are read from the modules' output,
 * so that this module need not have the whole platform on its class path; Maven builds it last.
 */
final class ArchitectureTest {

    /** Packages whose code Temporal replays: the same input must give the same steps. */
    private static final String[] REPLAYED = {
        "dev.space.model..", "dev.space.contract..", "dev.space.workflow.."
    };

    private static final Set<String> NOT_IN_REPLAY =
            Set.of(
                    "java.time.Instant.now",
                    "java.util.UUID.randomUUID",
                    "java.lang.System.currentTimeMillis",
                    "java.lang.System.nanoTime",
                    "java.lang.System.getenv",
                    "java.lang.Thread.sleep",
                    "java.lang.Thread.start",
                    "java.lang.Thread.startVirtualThread",
                    "java.util.Random.<init>",
                    "java.security.SecureRandom.<init>",
                    "java.util.concurrent.ThreadLocalRandom.current");

    @SuppressWarnings("NullAway.Init") // set before every test
    private static JavaClasses classes;

    @BeforeAll
    static void readClasses() {
        List<Path> outputs =
                Repository.modules().stream()
                        .map(m -> Repository.root().resolve(m).resolve("target/classes"))
                        .filter(Files::isDirectory)
                        .toList();
        classes =
                new ClassFileImporter()
                        .withImportOption(new ImportOption.DoNotIncludeJars())
                        .importPaths(outputs);
        assertThat(classes.size())
                .as("classes of the platform, built before this test")
                .isGreaterThan(100);
    }

    private static void check(ArchRule rule) {
        rule.allowEmptyShould(true).check(classes);
    }

    @Test
    void noCyclesBetweenParts() {
        check(
                slices().matching("dev.space.(*)..")
                        .should()
                        .beFreeOfCycles()
                        .because(
                                "a part that is in a cycle cannot be understood or replaced alone"));
    }

    @Test
    void foreignMemoryOnlyInNativeAbi() {
        check(
                noClasses()
                        .that()
                        .resideOutsideOfPackage("dev.space.nativeabi..")
                        .should()
                        .dependOnClassesThat()
                        .resideInAPackage("java.lang.foreign..")
                        .because(
                                "a wrong layout crashes the process: one reviewed place holds them all"));
    }

    @Test
    void secretStoresOnlyWhereSecretsBelong() {
        check(
                noClasses()
                        .that()
                        .resideOutsideOfPackage("dev.space.vault..")
                        .should()
                        .dependOnClassesThat()
                        .resideInAPackage("io.github.jopenlibs..")
                        .because(
                                "one place logs in, bounds its time, and lets no answer into a log"));
        check(
                noClasses()
                        .that()
                        .resideOutsideOfPackages(
                                "dev.space.gateway.credential..", "dev.space.vault..")
                        .should()
                        .dependOnClassesThat()
                        .haveFullyQualifiedName("dev.space.vault.VaultReader")
                        .because("nobody but the gateway reads a secret"));
        check(
                noClasses()
                        .that()
                        .resideOutsideOfPackages("dev.space.durable..", "dev.space.bench.floor..")
                        .should()
                        .dependOnClassesThat()
                        .resideInAPackage("io.minio..")
                        .because(
                                "what is durable is decided by a row: one place moves snapshots,"
                                        + " and no second one may think that it did; a floor moves"
                                        + " bytes that are nobody's"));
    }

    @Test
    void onlyTheTableDecides() {
        check(
                noClasses()
                        .that()
                        .resideOutsideOfPackage("dev.space.model.lifecycle..")
                        .should()
                        .callConstructorWhere(
                                DescribedPredicate.describe(
                                        "makes a decision",
                                        call ->
                                                call.getTargetOwner()
                                                        .isAssignableTo(Decision.class)))
                        .because(
                                "what a command means in a state is said once, in the total table"));
    }

    @Test
    void secretsHideThemselves() {
        check(
                classes()
                        .that()
                        .resideInAPackage("dev.space..secret..")
                        .or()
                        .haveSimpleNameEndingWith("Secret")
                        .should(
                                ArchCondition.from(
                                        DescribedPredicate.describe(
                                                "override toString",
                                                (JavaClass c) ->
                                                        c.isInterface()
                                                                || c.tryGetMethod("toString")
                                                                        .isPresent())))
                        .because("a log line prints whatever it is given"));
    }

    @Test
    void replayedCodeIsDeterministic() {
        check(
                noClasses()
                        .that()
                        .resideInAnyPackage(REPLAYED)
                        .should()
                        .callCodeUnitWhere(bannedInReplay())
                        .orShould()
                        .dependOnClassesThat()
                        .resideInAnyPackage("java.net..", "java.util.concurrent.locks..")
                        .because(
                                "a replay must take the same steps: time, randomness and IO come in"
                                        + " from outside"));
    }

    private static DescribedPredicate<JavaCall<?>> bannedInReplay() {
        return DescribedPredicate.describe(
                "is not repeatable",
                call ->
                        NOT_IN_REPLAY.contains(
                                call.getTargetOwner().getName() + "." + call.getName()));
    }

    @Test
    void workflowImplementationsLiveWithWorkflows() {
        check(
                noClasses()
                        .that()
                        .haveSimpleNameEndingWith("WorkflowImpl")
                        .should()
                        .resideOutsideOfPackage("dev.space.workflow..")
                        .because("only code under the replay rules may decide a session's steps"));
        check(
                noClasses()
                        .that()
                        .haveSimpleNameEndingWith("ActivitiesImpl")
                        .should()
                        .resideInAPackage("dev.space.workflow..")
                        .because(
                                "side effects are not replayed and so do not live with workflows"));
    }

    @Test
    void serviceNeverSeesWorkflowImplementations() {
        check(
                noClasses()
                        .that()
                        .resideInAPackage("dev.space.service..")
                        .should()
                        .dependOnClassesThat()
                        .resideInAPackage("dev.space.workflow..")
                        .because("the API talks to workflows by contract, from any process"));
    }

    @Test
    void nodeNeverTouchesTheDatabase() {
        check(
                noClasses()
                        .that()
                        .resideInAnyPackage(
                                "dev.space.node..", "dev.space.manager..", "dev.space.privileged..")
                        .should()
                        .dependOnClassesThat()
                        .resideInAnyPackage(
                                "java.sql..", "jakarta.persistence..", "dev.space.store..")
                        .because(
                                "a node reports facts; what is written down is decided elsewhere"));
    }

    @Test
    void managerHasNoFramework() {
        check(
                noClasses()
                        .that()
                        .resideInAnyPackage("dev.space.manager..", "dev.space.privileged..")
                        .should()
                        .dependOnClassesThat()
                        .resideInAnyPackage(
                                "io.quarkus..",
                                "io.temporal..",
                                "io.grpc..",
                                "io.netty..",
                                "jakarta..")
                        .because("the root process is small enough to be read whole"));
    }

    @Test
    void clientHoldsWireTypesOnly() {
        check(
                noClasses()
                        .that()
                        .resideInAPackage("dev.space.client..")
                        .should()
                        .dependOnClassesThat(
                                DescribedPredicate.describe(
                                        "are the platform's own",
                                        (JavaClass c) ->
                                                c.getPackageName().startsWith("dev.space.")
                                                        && !c.getPackageName()
                                                                .startsWith("dev.space.client")))
                        .because("users of the SDK get the interface, not the platform"));
    }

    @Test
    void resourcesAnswerWireTypes() {
        check(
                methods()
                        .that()
                        .areDeclaredInClassesThat()
                        .areAnnotatedWith("jakarta.ws.rs.Path")
                        .and()
                        .arePublic()
                        .should()
                        .notHaveRawReturnType(
                                DescribedPredicate.describe(
                                        "an entity",
                                        (JavaClass c) ->
                                                c.isAnnotatedWith("jakarta.persistence.Entity")))
                        .because("a column must be renamable without breaking clients"));
    }

    @Test
    void injectionByConstructor() {
        check(
                noFields()
                        .should()
                        .beAnnotatedWith("jakarta.inject.Inject")
                        .because(
                                "a class says in its constructor what it needs, and tests pass it"));
        check(
                fields().that()
                        .areDeclaredInClassesThat()
                        .haveSimpleNameEndingWith("Resource")
                        .should()
                        .beFinal()
                        .because("a resource serves many requests at once and keeps nothing"));
    }

    @Test
    void printingIsForTheCommandLine() {
        check(
                noClasses()
                        .that()
                        .resideOutsideOfPackages("dev.space.cli..", "dev.space.bench..")
                        .and()
                        .doNotHaveFullyQualifiedName("dev.space.durable.VerifyMain")
                        .should()
                        .accessField(System.class, "out")
                        .orShould()
                        .callMethod(Throwable.class, "printStackTrace")
                        .because(
                                "logs are structured; a line on stdout has no session and no level"));
    }

    @Test
    void sleepingHasOnePlace() {
        check(
                noClasses()
                        .that()
                        .doNotHaveFullyQualifiedName("dev.space.cli.platform.Pause")
                        .and()
                        .doNotHaveFullyQualifiedName("dev.space.node.Pause")
                        .should()
                        .callMethod(Thread.class, "sleep", long.class)
                        .orShould()
                        .callMethod(Thread.class, "sleep", java.time.Duration.class)
                        .because("waiting is for a condition with a deadline, not for a time"));
    }
}
