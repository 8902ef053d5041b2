package io.nodekeeper.apiserver.encryption;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.catalogue.StoredResources;
import io.nodekeeper.store.encryption.ValueTransformer;
import io.nodekeeper.time.Randoms;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** EncryptionConfigurations and the errors in them. */
class EncryptionConfigurationTest {
    private static EncryptionConfiguration.Result parse(String text) {
        return EncryptionConfiguration.parse(text, StoredResources::name, Randoms.secure());
    }

    private static String prefix(ValueTransformer transformer, String key) {
        byte[] stored = transformer.toStorage(key, key, "{}".getBytes(StandardCharsets.UTF_8));
        return ValueTransformer.isEncrypted(stored) ? ValueTransformer.prefix(stored) : "clear";
    }

    @Test
    void firstMatchingRuleCounts() {
        EncryptionConfiguration.Result result = parse("""
                apiVersion: apiserver.config.k8s.io/v1
                kind: EncryptionConfiguration
                resources:
                - resources: [secrets, leases.coordination.k8s.io]
                  providers:
                  - aesgcm: {keys: [{name: a, secret: MDEyMzQ1Njc4OWFiY2RlZg==}, {name: b, secret: YWJjZGVmMDEyMzQ1Njc4OQ==}]}
                  - identity: {}
                - resources: [nodes]
                  providers: [{identity: {}}]
                - resources: ["*.", "*.apps"]
                  providers: [{aesgcm: {keys: [{name: c, secret: MDEyMzQ1Njc4OWFiY2RlZg==}]}}]
                """);
        assertThat(result.faults()).isEmpty();
        ValueTransformer transformer = result.transformer();
        assertThat(prefix(transformer, "/registry/secrets/default/s")).isEqualTo("k8s:enc:aesgcm:v1:a:");
        assertThat(prefix(transformer, "/registry/leases/kube-node-lease/n1")).isEqualTo("k8s:enc:aesgcm:v1:a:");
        assertThat(prefix(transformer, "/registry/minions/n1")).isEqualTo("clear");
        assertThat(prefix(transformer, "/registry/configmaps/default/c")).isEqualTo("k8s:enc:aesgcm:v1:c:");
        assertThat(prefix(transformer, "/registry/daemonsets/default/d")).isEqualTo("k8s:enc:aesgcm:v1:c:");
        assertThat(prefix(transformer, "/registry/csinodes/n1")).isEqualTo("clear");
        assertThat(prefix(transformer, "/registry/things.example.com/t")).isEqualTo("clear");
    }

    @Test
    void starDotStarMatchesAllResources() {
        ValueTransformer transformer = parse("""
                apiVersion: apiserver.config.k8s.io/v1
                kind: EncryptionConfiguration
                resources:
                - resources: ["*.*"]
                  providers: [{aesgcm: {keys: [{name: a, secret: MDEyMzQ1Njc4OWFiY2RlZg==}]}}]
                """).transformer();
        assertThat(prefix(transformer, "/registry/minions/n1")).isEqualTo("k8s:enc:aesgcm:v1:a:");
        assertThat(prefix(transformer, "/registry/things.example.com/t")).isEqualTo("k8s:enc:aesgcm:v1:a:");
    }

    @Test
    void allErrorsAreReportedWithoutSecrets() {
        EncryptionConfiguration.Result result = parse("""
                apiVersion: v1
                kind: EncryptionConfiguration
                more: 1
                resources:
                - resources: [Secrets]
                  providers:
                  - aesgcm: {keys: [{name: "a:b", secret: c2hvcnQ=}, {name: k, secret: "no base64"}]}
                  - aescbc: {keys: []}
                  - aesgcm: {keys: [{name: k, secret: MDEyMzQ1Njc4OWFiY2RlZg==}]}
                - resources: []
                """);
        assertThat(result.faults())
                .containsExactly(
                        "the file has an unknown field \"more\"",
                        "apiVersion is v1; expected apiserver.config.k8s.io/v1",
                        "resources[0].resources has \"Secrets\"; expected a form like secrets,"
                                + " leases.coordination.k8s.io, *.apps, *. or *.*",
                        "resources[0].providers[0].aesgcm.keys[0].name is \"a:b\"; expected 1 to 100 characters without"
                                + " colons and spaces",
                        "resources[0].providers[0].aesgcm.keys[0].secret is 5 bytes; expected the base64 of 16, 24 or 32"
                                + " random bytes",
                        "resources[0].providers[0].aesgcm.keys[1].secret is missing or not base64; expected the base64 of"
                                + " 16, 24 or 32 random bytes",
                        "resources[0].providers[1] is aescbc, which is not supported; expected aesgcm or identity",
                        "resources[0].providers[2].aesgcm.keys[0].name is k, which another key has, too",
                        "resources[1].resources is missing, empty or not a list",
                        "resources[1].providers is missing, empty or not a list");
    }

    @Test
    void secretWithoutItsClosingQuoteIsNotShown() {
        assertThat(parse("""
                apiVersion: apiserver.config.k8s.io/v1
                kind: EncryptionConfiguration
                resources:
                - resources: [secrets]
                  providers:
                  - aesgcm:
                      keys:
                      - name: a
                        secret: "MDEyMzQ1Njc4OWFiY2RlZg==
                """).faults())
                .singleElement()
                .asString()
                .startsWith("it is not valid YAML: ")
                .contains("(line ", ", column ")
                .doesNotContain("MDEyMzQ1Njc4OWFiY2RlZg");
    }

    @Test
    void otherDocumentsAreRefused() {
        assertThat(parse("").faults()).contains("the file is missing or not an object");
        assertThat(parse("[1]").faults()).contains("the file is missing or not an object");
        assertThat(parse("a: [").faults()).singleElement().asString().startsWith("it is not valid YAML: ");
    }
}
