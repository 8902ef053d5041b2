package io.nodekeeper.apiserver.authorization.rbac;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.authorization.Policy;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The built-in roles, and the rights of each of kube-controller-manager's controllers with its own account. */
class BuiltInRolesTest {
    private static final Policy POLICY = Policy.of(
            Stream.concat(BuiltInRoles.clusterRoles().stream(), BuiltInRoles.roles().stream())
                    .map(Role::of)
                    .toList(),
            Stream.concat(BuiltInRoles.clusterRoleBindings().stream(), BuiltInRoles.roleBindings().stream())
                    .map(Binding::of)
                    .toList());

    private static String name(JsonObject object) {
        JsonObject metadata = object.object("metadata");
        return metadata.text("namespace") + "/" + metadata.text("name");
    }

    /** The allowed ones of {@code verbs} for a resource of the form {@code group:resource@namespace/name}. */
    private static List<String> allowed(String user, List<String> groups, String resource, List<String> verbs) {
        String group = resource.contains(":") ? resource.substring(0, resource.indexOf(':')) : "";
        String rest = resource.substring(resource.indexOf(':') + 1);
        String plural = rest.replaceAll("@.*", "");
        String place = rest.contains("@") ? rest.substring(rest.indexOf('@') + 1) : "";
        String namespace = place.contains("/") ? place.substring(0, place.indexOf('/')) : "";
        String name = place.substring(place.indexOf('/') + 1);
        return verbs.stream()
                .filter(verb -> POLICY.decide(Attributes.ofResource(user, groups, verb, group, plural, namespace, name))
                        .allowed())
                .toList();
    }

    private static final List<String> VERBS =
            List.of("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection");

    @Test
    void objectsAreUniqueAndBindingsReferToExistingRoles() {
        Set<String> names = new HashSet<>();
        Stream.of(BuiltInRoles.clusterRoles(), BuiltInRoles.roles())
                .flatMap(List::stream)
                .forEach(
                        role -> assertThat(names.add(name(role))).as(name(role)).isTrue());
        Stream.of(BuiltInRoles.clusterRoleBindings(), BuiltInRoles.roleBindings())
                .flatMap(List::stream)
                .map(Binding::of)
                .forEach(binding -> assertThat(POLICY.role(binding.roleKind(), binding.namespace(), binding.roleName()))
                        .as(binding.name())
                        .isPresent());
        assertThat(BuiltInRoles.clusterRoles()).hasSize(64);
        assertThat(BuiltInRoles.clusterRoles().stream()
                        .filter(role -> name(role).startsWith("/system:controller:")))
                .hasSize(33);
    }

    /** The requests of kube-controller-manager 1.26 and 1.32 with {@code --use-service-account-credentials}. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            node-controller                      | nodes@/n1                                   | get list watch update patch delete
            node-controller                      | nodes/status@/n1                            | update patch
            node-controller                      | pods@default/p                              | get list watch delete
            node-controller                      | pods/status@default/p                       | update patch
            node-controller                      | events@default/e                            | create update patch
            node-controller                      | secrets@kube-system/s                       | -
            node-controller                      | coordination.k8s.io:leases@kube-node-lease/n1 | -
            pod-garbage-collector                | pods@default/p                              | list watch delete
            pod-garbage-collector                | nodes@/n1                                   | get list watch
            pod-garbage-collector                | pods/status@default/p                       | patch
            pod-garbage-collector                | secrets@default/s                           | -
            service-account-controller           | serviceaccounts@default/default             | create
            service-account-controller           | secrets@default/s                           | -
            root-ca-cert-publisher               | configmaps@default/kube-root-ca.crt         | create update
            root-ca-cert-publisher               | secrets@default/s                           | -
            namespace-controller                 | namespaces@/a                               | get list watch delete deletecollection
            namespace-controller                 | namespaces/finalize@/a                      | get list watch update delete deletecollection
            namespace-controller                 | secrets@a/s                                 | get list watch delete deletecollection
            endpoint-controller                  | services@default/s                          | get list watch
            endpoint-controller                  | endpoints@default/s                         | get list watch create update delete
            endpoint-controller                  | nodes@/n1                                   | -
            daemon-set-controller                | apps:daemonsets@kube-system/d               | get list watch
            daemon-set-controller                | apps:daemonsets/status@kube-system/d        | update
            daemon-set-controller                | nodes@/n1                                   | list watch
            daemon-set-controller                | pods@kube-system/p                          | list watch create patch delete
            disruption-controller                | policy:poddisruptionbudgets/status@a/b      | update
            ttl-controller                       | nodes@/n1                                   | list watch update patch
            attachdetach-controller              | nodes/status@/n1                            | update patch
            attachdetach-controller              | storage.k8s.io:volumeattachments@/va        | get list watch create delete
            clusterrole-aggregation-controller   | rbac.authorization.k8s.io:clusterroles@/r   | get list watch update patch
            clusterrole-aggregation-controller   | rbac.authorization.k8s.io:clusterrolebindings@/r | -
            generic-garbage-collector            | pods@a/p                                    | get list watch update patch delete
            resourcequota-controller             | pods@a/p                                    | list watch
            legacy-service-account-token-cleaner | secrets@a/s                                 | patch delete
            token-cleaner                        | secrets@kube-system/s                       | get list watch delete
            token-cleaner                        | secrets@default/s                           | -
            bootstrap-signer                     | configmaps@kube-public/cluster-info         | get list watch update
            bootstrap-signer                     | configmaps@kube-public/other                | get list watch
            """)
    void controllerHasExactlyTheRightsForItsWork(String controller, String resource, String verbs) {
        List<String> groups =
                List.of("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated");

        List<String> allowed = allowed("system:serviceaccount:kube-system:" + controller, groups, resource, VERBS);

        assertThat(allowed).isEqualTo(verbs.equals("-") ? List.of() : List.of(verbs.split(" ")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            system:kube-scheduler          | pods/binding@default/p                                 | create
            system:kube-scheduler          | persistentvolumes@/pv                                  | get list watch update patch
            system:kube-scheduler          | coordination.k8s.io:leases@kube-system/kube-scheduler  | get create update
            system:kube-scheduler          | coordination.k8s.io:leases@kube-system/other           | create
            system:kube-scheduler          | configmaps@kube-system/extension-apiserver-authentication | get list watch
            system:kube-scheduler          | secrets@kube-system/s                                  | -
            system:kube-proxy              | discovery.k8s.io:endpointslices@a/s                    | list watch
            system:kube-proxy              | nodes@/n1                                              | get list watch
            system:kube-proxy              | pods@a/p                                               | -
            system:kube-controller-manager | serviceaccounts/token@kube-system/node-controller      | list watch create
            system:kube-controller-manager | configmaps@kube-system/extension-apiserver-authentication | get list watch
            """)
    void componentHasExactlyTheRightsForItsWork(String user, String resource, String verbs) {
        List<String> allowed = allowed(user, List.of("system:authenticated"), resource, VERBS);

        assertThat(allowed)
                .containsExactlyInAnyOrderElementsOf(verbs.equals("-") ? List.of() : List.of(verbs.split(" ")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "    core pods get",
                "Dog rex",
                "ClusterRole r\n    core pods",
                "ClusterRole r\n    core pods name=a",
                "ClusterRoleBinding b\n    Dog rex"
            })
    void errorNamesAMalformedLine(String text) {
        assertThatThrownBy(() -> RoleText.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("expected ");
    }
}
