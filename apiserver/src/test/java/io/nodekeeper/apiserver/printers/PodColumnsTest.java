package io.nodekeeper.apiserver.printers;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cells of a pod in {@code kubectl get pods}. */
class PodColumnsTest {
    @ParameterizedTest
    @Tag("W72")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{'phase':'Pending'} | Pending",
                "{'phase':'Failed','reason':'Evicted'} | Evicted",
                "{'phase':'Pending','containerStatuses':[{'state':{'waiting':{'reason':'ImagePullBackOff'}}}]} | ImagePullBackOff",
                "{'phase':'Running','containerStatuses':[{'state':{'terminated':{'exitCode':3}}}]} | ExitCode:3",
                "{'phase':'Running','containerStatuses':[{'state':{'terminated':{'reason':'OOMKilled'}}},{'state':{'running':{}}}]} | OOMKilled",
                "{'phase':'Running','conditions':[{'type':'Ready','status':'True'}],'containerStatuses':[{'ready':true,'state':{'running':{}}},{'state':{'terminated':{'reason':'Completed'}}}]} | Running",
                "{'phase':'Pending','initContainerStatuses':[{'state':{'terminated':{'exitCode':0}}},{'state':{'running':{}}}]} | Init:1/2",
                "{'phase':'Pending','initContainerStatuses':[{'state':{'waiting':{'reason':'CrashLoopBackOff'}}}]} | Init:CrashLoopBackOff"
            })
    void statusColumnShowsWhatBlocksThePod(String status, String shown) {
        JsonObject pod =
                Json.parseObject(("{'spec':{'initContainers':[{},{}]},'status':" + status + "}").replace('\'', '"'));

        assertThat(PodColumns.status(pod)).isEqualTo(shown);
        assertThat(PodColumns.status(pod.update("metadata", old -> old.with("deletionTimestamp", "now"))))
                .isEqualTo("Terminating");
    }

    @Test
    @Tag("W72")
    void readinessGatesAreCounted() {
        JsonObject pod = Json.parseObject(
                "{\"spec\":{\"readinessGates\":[{\"conditionType\":\"a\"},{\"conditionType\":\"b\"}]},"
                        + "\"status\":{\"conditions\":[{\"type\":\"a\",\"status\":\"True\"},{\"type\":\"b\",\"status\":\"False\"}]}}");

        assertThat(PodColumns.readinessGates(pod)).isEqualTo("1/2");
        assertThat(PodColumns.readinessGates(JsonObject.EMPTY)).isEqualTo("<none>");
    }
}
