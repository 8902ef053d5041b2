package io.nodekeeper.apiserver.printers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cells of the kinds beside nodes, pods and leases. */
class ClusterTablesTest {
    @Test
    void service() {
        assertThat(Cells.of(
                                ClusterTables.SERVICES,
                                "{'metadata':{'name':'web','creationTimestamp':'2026-11-21T06:00:00Z'},"
                                        + "'spec':{'type':'LoadBalancer','clusterIP':'10.96.0.7','selector':{'b':'2','a':'1'},"
                                        + "'ports':[{'port':80,'nodePort':30080,'protocol':'TCP'}]}}")
                        .values())
                .containsExactly(
                        "'web'",
                        "'LoadBalancer'",
                        "'10.96.0.7'",
                        "'<pending>'",
                        "'80:30080/TCP'",
                        "'60m'",
                        "'a=1,b=2'");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{} | <none>",
                "{'matchLabels':{'b':'2','a':'1'}} | a=1,b=2",
                "{'matchExpressions':[{'key':'tier','operator':'In','values':['front','back']},{'key':'old','operator':'DoesNotExist'}],'matchLabels':{'app':'web'}} | app=web,!old,tier in (back,front)",
                "{'matchExpressions':[{'key':'tier','operator':'NotIn','values':['db']},{'key':'app','operator':'Exists'}]} | app,tier notin (db)"
            })
    void selectorsAreShownWithTheirExpressions(String selector, String shown) {
        assertThat(Cells.of(ClusterTables.NETWORK_POLICIES, "{'spec':{'podSelector':" + selector + "}}"))
                .containsEntry("Pod-Selector", "'" + shown + "'");
        assertThat(Cells.of(ClusterTables.DAEMON_SETS, "{'spec':{'selector':" + selector + "}}"))
                .containsEntry("Selector", "'" + shown + "'");
    }

    @Test
    void csiDriver() {
        assertThat(Cells.of(
                        ClusterTables.CSI_DRIVERS,
                        "{'metadata':{'name':'d','creationTimestamp':'2026-11-21T06:00:00Z'},'spec':{'attachRequired':true,"
                                + "'podInfoOnMount':false,'storageCapacity':true,'requiresRepublish':true,"
                                + "'tokenRequests':[{'audience':'a'},{'audience':'b'}],"
                                + "'volumeLifecycleModes':['Persistent','Ephemeral']}}"))
                .hasToString("{Name='d', AttachRequired=true, PodInfoOnMount=false, StorageCapacity=true,"
                        + " TokenRequests='a,b', RequiresRepublish=true, Modes='Persistent,Ephemeral', Age='60m'}");
        assertThat(Cells.of(ClusterTables.CSI_DRIVERS, "{}"))
                .containsEntry("TokenRequests", "'<unset>'")
                .containsEntry("Modes", "'<none>'");
    }

    @Test
    void booleansAndNumbersAreNotTexts() {
        assertThat(Cells.of(ClusterTables.PRIORITY_CLASSES, "{'value':1000,'globalDefault':true}"))
                .containsEntry("Value", "1000")
                .containsEntry("Global-Default", "true");
        assertThat(Cells.of(ClusterTables.VOLUME_ATTACHMENTS, "{'status':{'attached':true}}"))
                .containsEntry("Attached", "true");
        assertThat(ClusterTables.PRIORITY_CLASSES.columns().stream().map(Table.Column::type))
                .containsExactly("string", "integer", "boolean", "string", "string");
    }
}
