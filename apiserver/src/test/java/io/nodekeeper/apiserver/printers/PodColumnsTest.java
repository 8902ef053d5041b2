package io.nodekeeper.apiserver.printers;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cells of a pod in {@code kubectl get pods}. */
class PodColumnsTest {
    /** A pod with two init containers, of which the second is a sidecar, and two containers. */
    private static final String SPEC =
            "'spec':{'initContainers':[{'name':'setup'},{'name':'proxy','restartPolicy':'Always'}],"
                    + "'containers':[{'name':'a'},{'name':'b'}]}";

    private static final String SETUP_DONE = "{'name':'setup','state':{'terminated':{'exitCode':0}}}";

    private static JsonObject pod(String status) {
        return Cells.json("{" + SPEC + ",'status':" + status + "}");
    }

    private static PodColumns columns(String status) {
        return new PodColumns(pod(status));
    }

    @ParameterizedTest
    @Tag("W72")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{'phase':'Pending'} | Pending",
                "{'phase':'Failed','reason':'Evicted'} | Evicted",
                "{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','reason':'SchedulingGated'}]} | SchedulingGated",
                "{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','reason':'Unschedulable'}]} | Pending",
                "{'phase':'Pending','containerStatuses':[{'state':{'waiting':{'reason':'ImagePullBackOff'}}}]} | ImagePullBackOff",
                "{'phase':'Running','containerStatuses':[{'state':{'terminated':{'exitCode':3}}}]} | ExitCode:3",
                "{'phase':'Running','containerStatuses':[{'state':{'terminated':{'exitCode':137,'signal':9}}}]} | Signal:9",
                "{'phase':'Running','containerStatuses':[{'state':{'terminated':{'reason':'OOMKilled'}}},{'state':{'running':{}}}]} | OOMKilled",
                "{'phase':'Running','containerStatuses':[{'state':{'terminated':{'reason':'Error'}}},{'state':{'waiting':{'reason':'CrashLoopBackOff'}}}]} | Error",
                "{'phase':'Running','conditions':[{'type':'Ready','status':'True'}],'containerStatuses':[{'ready':true,'state':{'running':{}}},{'state':{'terminated':{'reason':'Completed'}}}]} | Running",
                "{'phase':'Running','conditions':[{'type':'Ready','status':'False'}],'containerStatuses':[{'ready':true,'state':{'running':{}}},{'state':{'terminated':{'reason':'Completed'}}}]} | NotReady",
                "{'phase':'Running','containerStatuses':[{'ready':false,'state':{'running':{}}},{'state':{'terminated':{'reason':'Completed'}}}]} | Completed"
            })
    void statusIsTheReasonOfTheFirstContainerThatDoesNotRun(String status, String shown) {
        assertThat(columns(status).status()).isEqualTo(shown);
    }

    @ParameterizedTest
    @Tag("W72")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{'name':'setup','state':{'waiting':{'reason':'PodInitializing'}}} | Init:0/2",
                "{'name':'setup','state':{'running':{}}} | Init:0/2",
                // Only a sidecar is done once it has started.
                "{'name':'setup','started':true,'state':{'running':{}}} | Init:0/2",
                "{'name':'setup','state':{'waiting':{'reason':'CrashLoopBackOff'}}} | Init:CrashLoopBackOff",
                "{'name':'setup','state':{'terminated':{'exitCode':1,'reason':'Error'}}} | Init:Error",
                "{'name':'setup','state':{'terminated':{'exitCode':1}}} | Init:ExitCode:1",
                "{'name':'setup','state':{'terminated':{'exitCode':137,'signal':9}}} | Init:Signal:9",
                "{'name':'setup','state':{'terminated':{'exitCode':0}}},{'name':'proxy','started':false,'state':{'running':{}}} | Init:1/2",
                "{'name':'setup','state':{'terminated':{'exitCode':0}}},{'name':'proxy','started':true,'state':{'running':{}}} | PodInitializing"
            })
    void statusIsTheProgressOfTheInitContainersUntilTheyAreDone(String initContainers, String shown) {
        String status = "{'phase':'Pending','initContainerStatuses':[" + initContainers
                + "],'containerStatuses':[{'name':'a','state':{'waiting':{'reason':'PodInitializing'}}}]}";

        assertThat(columns(status).status()).isEqualTo(shown);
    }

    @ParameterizedTest
    @CsvSource({
        "Pending, '', Terminating",
        "Running, Evicted, Terminating",
        "Running, NodeLost, Unknown",
        "Failed, NodeLost, Unknown",
        "Succeeded, '', Completed",
        "Failed, Evicted, Completed"
    })
    void deletedPodIsTerminatingUnlessItHasEndedOrItsNodeIsLost(String phase, String reason, String shown) {
        JsonObject pod = pod("{'phase':'" + phase + "','reason':'" + reason
                        + "','containerStatuses':[{'name':'a','state':{'terminated':{'reason':'Completed'}}}]}")
                .update("metadata", old -> old.with("deletionTimestamp", "2026-11-21T07:00:00Z"));

        assertThat(new PodColumns(pod).status()).isEqualTo(shown);
    }

    @Test
    void sidecarThatHasStartedCountsLikeAContainer() {
        String proxy = "{'name':'proxy','started':true,'ready':true,'restartCount':2,'state':{'running':{}}}";
        String setup = SETUP_DONE.replace("'state'", "'ready':true,'restartCount':5,'state'");
        String a = "{'name':'a','ready':true,'restartCount':1,'state':{'running':{}}}";
        String b = "{'name':'b','ready':false,'restartCount':0,'state':{'running':{}}}";

        PodColumns pod = columns("{'phase':'Running','initContainerStatuses':[" + setup + "," + proxy
                + "],'containerStatuses':[" + a + "," + b + "]}");

        assertThat(pod.ready()).isEqualTo("2/3");
        assertThat(pod.status()).isEqualTo("Running");
        assertThat(pod.restarts(Cells.NOW)).isEqualTo("3");
    }

    @Test
    void sidecarThatStartsAgainDoesNotHideTheContainers() {
        String proxy =
                "{'name':'proxy','started':false,'ready':false,'restartCount':4,'state':{'waiting':{'reason':'CrashLoopBackOff'}}}";
        String running = "{'name':'a','ready':true,'restartCount':1,'state':{'running':{}}}";
        String status = "{'phase':'Running','conditions':[{'type':'Initialized','status':'True'}],"
                + "'initContainerStatuses':[" + SETUP_DONE + "," + proxy + "],'containerStatuses':[" + running + "]}";

        PodColumns pod = columns(status);
        assertThat(pod.ready()).isEqualTo("1/3");
        assertThat(pod.status()).isEqualTo("Init:CrashLoopBackOff");
        assertThat(pod.restarts(Cells.NOW)).isEqualTo("5");

        PodColumns failed = columns(status.replace("{'running':{}}", "{'terminated':{'reason':'Error'}}"));
        assertThat(failed.ready()).isEqualTo("0/3");
        assertThat(failed.status()).isEqualTo("Error");
    }

    @Test
    void restartsAreThoseOfTheInitContainersUntilTheyAreDone() {
        String setup = "{'name':'setup','restartCount':3,'state':{'running':{}},"
                + "'lastState':{'terminated':{'finishedAt':'2026-11-21T06:55:00Z'}}}";
        String a = "{'name':'a','restartCount':7,'state':{'waiting':{'reason':'PodInitializing'}}}";

        PodColumns pod = columns("{'initContainerStatuses':[" + setup + "],'containerStatuses':[" + a + "]}");

        assertThat(pod.restarts(Cells.NOW)).isEqualTo("3 (5m ago)");
        assertThat(pod.ready()).isEqualTo("0/3");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{'restartCount':0} | {'restartCount':0} | 0",
                "{'restartCount':2} | {'restartCount':1} | 3",
                "{'restartCount':0,'lastState':{'terminated':{'finishedAt':'2026-11-21T06:59:00Z'}}} | {} | 0",
                "{'restartCount':2,'lastState':{'terminated':{'finishedAt':'2026-11-21T06:59:00Z'}}} | {'restartCount':1,'lastState':{'terminated':{'finishedAt':'2026-11-21T02:00:00Z'}}} | 3 (60s ago)",
                "{'restartCount':2} | {'restartCount':1,'lastState':{'terminated':{'finishedAt':'2026-11-21T02:00:00Z'}}} | 3 (5h ago)"
            })
    void restartsAreShownWithTheTimeSinceTheLast(String a, String b, String shown) {
        assertThat(columns("{'containerStatuses':[" + a + "," + b + "]}").restarts(Cells.NOW))
                .isEqualTo(shown);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{} | <none>",
                "{'podIP':'10.1.0.1'} | 10.1.0.1",
                "{'podIP':'10.1.0.1','podIPs':[{'ip':'10.1.0.1'},{'ip':'fd00::1'}]} | 10.1.0.1",
                "{'podIPs':[{'ip':'fd00::1'},{'ip':'10.1.0.1'}]} | fd00::1"
            })
    void ipIsTheFirstAddress(String status, String shown) {
        assertThat(PodColumns.ip(pod(status))).isEqualTo(shown);
    }

    @Test
    @Tag("W72")
    void readinessGatesAreCounted() {
        JsonObject pod = Cells.json("{'spec':{'readinessGates':[{'conditionType':'a'},{'conditionType':'b'}]},"
                + "'status':{'conditions':[{'type':'a','status':'True'},{'type':'b','status':'False'}]}}");

        assertThat(PodColumns.readinessGates(pod)).isEqualTo("1/2");
        assertThat(PodColumns.readinessGates(JsonObject.EMPTY)).isEqualTo("<none>");
    }
}
