package io.nodekeeper.cli.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.cli.apiserver.ApiServerCommand;
import io.nodekeeper.cli.apiserver.EncryptionOptions;
import io.nodekeeper.cli.apiserver.OpenStore;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.disk.RocksJournal;
import io.nodekeeper.store.encryption.ValueTransformer;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code apiserver check}, {@code repair} and {@code rewrite}, on real stores, and the flags that belong to them. */
class StoreCommandsTest {
    private static final String NODES = "/registry/minions/";
    private static final String SECRET = "/registry/secrets/default/s1";

    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final List<ApiServerCommand> launched = new ArrayList<>();
    private final CommandRunner runner = new CommandRunner(
            List.of(new ApiServerCommand(
                    command -> {
                        launched.add(command);
                        return CommandRunner.OK;
                    },
                    new SnapshotCommand(new PrintWriter(err)),
                    new RestoreCommand(Instant.EPOCH, new PrintWriter(err)),
                    new CheckCommand(new PrintWriter(out)),
                    new RepairCommand(new PrintWriter(out)),
                    new RewriteCommand(new PrintWriter(out)))),
            new PrintWriter(out),
            new PrintWriter(err));

    private Path data;
    private Path store;

    @BeforeEach
    void name() {
        data = directory.resolve("data");
        store = data.resolve("store");
    }

    private void write(ValueTransformer transformer, String... keys) throws IOException {
        Files.createDirectories(data);
        Store open = new IndexedStore(time.loop("store"), RocksJournal.open(store, transformer));
        for (String key : keys) {
            open.put(key, ("open-sesame of " + key).getBytes(StandardCharsets.UTF_8), 0);
            time.advance(Duration.ZERO);
        }
        open.close();
        time.advance(Duration.ZERO);
    }

    private int run(String command, String... more) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        List<String> arguments = new ArrayList<>(List.of("apiserver", command, "--data-dir", data.toString()));
        arguments.addAll(List.of(more));
        return runner.run(arguments.toArray(String[]::new));
    }

    private Path log() throws IOException {
        try (Stream<Path> files = Files.list(store)) {
            return files.filter(file ->
                            file.toString().endsWith(".log") && file.toFile().length() > 0)
                    .findFirst()
                    .orElseThrow();
        }
    }

    private void damageTheLastChange() throws IOException {
        Path log = log();
        byte[] content = Files.readAllBytes(log);
        content[content.length - 1] ^= 1;
        Files.write(log, content);
    }

    private Store open() throws Exception {
        assertThat(runner.run("apiserver", "--data-dir", data.toString(), "--accept-store-loss"))
                .isZero();
        ThreadLoop loop = new ThreadLoop("store");
        return OpenStore.begin(launched.getLast().server, loop).get(20, TimeUnit.SECONDS);
    }

    @Test
    @Tag("W85")
    void aWholeStoreIsLeftAsItIs() throws Exception {
        write(ValueTransformer.IDENTITY, NODES + "n1", NODES + "n2");
        assertThat(run("check")).isZero();
        assertThat(out.toString()).isEqualTo(store + ": whole\nreadable: up to revision 2, objects: 2\n");
        assertThat(run("repair")).isZero();
        assertThat(out.toString()).isEqualTo(store + " is not damaged and was left as it is\n");
    }

    @Test
    @Tag("W85")
    void aDamagedStoreIsToldAndRepaired() throws Exception {
        write(ValueTransformer.IDENTITY, NODES + "n1", NODES + "n2");
        damageTheLastChange();
        // when it is checked, then it says what is lost
        assertThat(run("check")).isEqualTo(4);
        assertThat(out.toString())
                .startsWith(store + ": damaged\nproblem: ")
                .endsWith("readable: up to revision 1, objects: 1\nlost: revisions 2 to 2\n  revision 2 of " + NODES
                        + "n2\n");
        // and a snapshot does not take it for whole
        assertThat(run("snapshot", directory.resolve("s").toString())).isEqualTo(1);
        assertThat(err.toString()).contains("is damaged and was not changed");
        // when it is repaired, then it is whole
        assertThat(run("repair")).isZero();
        assertThat(out.toString())
                .contains("lost: the change of revision 2 is lost (" + NODES + "n2)")
                .endsWith("repaired " + store + ", objects: 1\nthe damaged files are kept in " + data
                        + "/store.damaged-1\n");
        assertThat(run("check")).isZero();
    }

    @Test
    void aServerStartsOnADamagedStoreOnlyIfToldTo() throws Exception {
        write(ValueTransformer.IDENTITY, NODES + "n1", NODES + "n2");
        damageTheLastChange();
        assertThatThrownBy(() -> RocksJournal.open(store)).hasMessageContaining("is damaged and was not changed");
        Store open = open();
        assertThat(open.list(NODES, "", 0, 0).entries()).extracting(Entry::key).containsExactly(NODES + "n1");
        open.close().get(20, TimeUnit.SECONDS);
        assertThat(data.resolve("store.damaged-1")).isDirectory();
    }

    @Test
    void aStoreThatTheServerCannotReadIsNotRepairedAtAStart() throws Exception {
        // given a damaged store, and a server that lacks its key
        EncryptionOptions options = new EncryptionOptions();
        options.file = Optional.of(configuration("{aesgcm: {keys: [{name: k1, secret: MDEyMzQ1Njc4OWFiY2RlZg==}]}}, "));
        write(options.transformer(), SECRET, NODES + "n2");
        damageTheLastChange();

        assertThatThrownBy(this::open).hasMessageContaining("k8s:enc:aesgcm:v1:k1:");

        assertThat(data.resolve("store.damaged-1")).doesNotExist();
    }

    @Test
    void whoDoesNotOwnTheDataDirectoryChangesNothingThere() throws Exception {
        // given a process of root, and the data directory of a server of another user
        write(ValueTransformer.IDENTITY, NODES + "n1");
        Path snapshot = directory.resolve("objects.snapshot");
        assertThat(run("snapshot", snapshot.toString())).isZero();
        Path configuration = configuration("");
        assertThat(Files.getOwner(data).getName())
                .as("this test gives files to other users; run it as root")
                .isEqualTo("root");
        UserPrincipal nobody =
                data.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
        Files.setOwner(data, nobody);

        // when it checks and copies the store, then it may
        assertThat(run("check")).isZero();
        assertThat(run("snapshot", snapshot.toString())).isZero();

        // when it writes, then it is told how
        damageTheLastChange();
        String refusal =
                "error: --data-dir " + data + " belongs to the user nobody, who could not open what root writes"
                        + " there; expected this command as that user: runuser -u nobody -- nodekeeper apiserver ...\n";
        assertThat(run("repair")).isEqualTo(2);
        assertThat(err.toString()).startsWith(refusal);
        assertThat(run("rewrite", "--encryption-provider-config", configuration.toString()))
                .isEqualTo(2);
        assertThat(err.toString()).startsWith(refusal);
        assertThat(run("check")).isEqualTo(4);

        // also if only the server's part is another user's, as in a volume of root
        Files.setOwner(data, Files.getOwner(directory));
        Files.setOwner(store, nobody);
        assertThat(run("repair")).isEqualTo(2);
        assertThat(err.toString()).contains(store + " belongs to the user nobody");

        data = Files.createDirectory(directory.resolve("new"));
        Files.setOwner(data, nobody);
        assertThat(run("restore", snapshot.toString())).isEqualTo(2);
        assertThat(err.toString()).contains(data + " belongs to the user nobody");
        assertThat(data).isEmptyDirectory();
    }

    @Test
    void aDirectoryWithoutAStoreIsNoStore() {
        for (String command : List.of("check", "repair", "rewrite")) {
            assertThat(run(command)).isEqualTo(2);
            assertThat(err.toString())
                    .contains(store + " does not exist; expected the --data-dir of a server with a store on disk");
        }
    }

    @Test
    void aStoreOfAnotherKindIsRefusedWithWhatToUseInstead() throws Exception {
        write(ValueTransformer.IDENTITY, NODES + "n1");
        Path file = configuration("");
        for (String command : List.of("check", "repair", "rewrite", "snapshot", "restore")) {
            List<String> operands = command.equals("snapshot") || command.equals("restore")
                    ? List.of(file.toString())
                    : command.equals("rewrite") ? List.of("--encryption-provider-config", file.toString()) : List.of();
            for (String flag : List.of("--store=etcd", "--etcd-servers=https://10.0.0.1:2379", "--store=memory")) {
                String[] more =
                        Stream.concat(Stream.of(flag), operands.stream()).toArray(String[]::new);
                assertThat(run(command, more)).as(command + flag).isEqualTo(2);
                assertThat(err.toString())
                        .startsWith("error: this command works on a store in a --data-dir only (--store rocksdb); ")
                        .contains(
                                flag.equals("--store=memory")
                                        ? "is lost when its server stops"
                                        : "for objects in etcd, ");
            }
        }
        assertThat(run("rewrite", "--store=etcd", "--encryption-provider-config", file.toString()))
                .isEqualTo(2);
        assertThat(err.toString()).contains("\"kubectl get secrets -A -o json | kubectl replace -f -\"");
        // nothing was changed, and the right kind is accepted
        assertThat(run("check", "--store=rocksdb")).isZero();
        // and the data directory of a server on etcd, which has no store, is explained
        data = directory.resolve("etcd");
        Files.createDirectories(data.resolve("pki"));
        assertThat(run("snapshot", file.toString())).isEqualTo(2);
        assertThat(err.toString()).contains("If that server has --store etcd, use \"etcdctl snapshot save\"");
    }

    private Path configuration(String keys) throws IOException {
        return Files.writeString(directory.resolve("encryption.yaml"), """
                apiVersion: apiserver.config.k8s.io/v1
                kind: EncryptionConfiguration
                resources:
                - resources: [secrets]
                  providers: [%s{identity: {}}]
                """.formatted(keys));
    }

    @Test
    void aSnapshotOfEncryptedSecretsIsEncryptedAndRestoredWithoutTheKey() throws Exception {
        Path file = configuration("{aesgcm: {keys: [{name: k1, secret: MDEyMzQ1Njc4OWFiY2RlZg==}]}}, ");
        EncryptionOptions options = new EncryptionOptions();
        options.file = Optional.of(file);
        write(options.transformer(), SECRET);
        Path snapshot = directory.resolve("objects.snapshot");
        assertThat(run("snapshot", snapshot.toString())).isZero();
        assertThat(Files.readString(snapshot)).contains(SECRET).doesNotContain("sesame");
        data = directory.resolve("other");
        assertThat(run("restore", snapshot.toString())).isZero();
        try (RocksJournal journal = RocksJournal.open(data.resolve("store"), options.transformer())) {
            assertThat(new String(journal.load().entries().getFirst().value(), StandardCharsets.UTF_8))
                    .isEqualTo("open-sesame of " + SECRET);
        }
    }

    @Test
    void rewriteWritesEverythingWithTheFirstKey() throws Exception {
        write(ValueTransformer.IDENTITY, SECRET, NODES + "n1");
        Path file = configuration("{aesgcm: {keys: [{name: k1, secret: MDEyMzQ1Njc4OWFiY2RlZg==}]}}, ");
        assertThat(run("rewrite", "--encryption-provider-config", file.toString()))
                .isZero();
        assertThat(out.toString()).isEqualTo("wrote " + store + " again, objects: 2\n");
        assertThatThrownBy(() -> RocksJournal.open(store)).hasMessageContaining("k8s:enc:aesgcm:v1:k1:");
        try (Stream<Path> files = Files.walk(data)) {
            for (Path each : files.filter(Files::isRegularFile).toList()) {
                assertThat(Files.readString(each, StandardCharsets.ISO_8859_1)).doesNotContain("sesame of " + SECRET);
            }
        }
    }

    @Test
    void allFaultsOfAnEncryptionConfigurationAreToldAtOnce() throws Exception {
        Path file = configuration("{aescbc: {}}, {aesgcm: {keys: []}}, ");
        assertThat(runner.run(
                        "apiserver", "--data-dir", data.toString(), "--encryption-provider-config", file.toString()))
                .isEqualTo(2);
        assertThat(err.toString())
                .contains("--encryption-provider-config " + file + ": resources[0].providers[0] is aescbc")
                .contains(
                        "--encryption-provider-config " + file + ": resources[0].providers[1].aesgcm.keys is missing");
        assertThat(launched).isEmpty();
        assertThat(runner.run("apiserver", "--encryption-provider-config", "/none/x"))
                .isEqualTo(2);
        assertThat(err.toString())
                .contains(
                        "--encryption-provider-config: /none/x: no such file or directory; its directory /none does not"
                                + " exist");
    }
}
