package io.nodekeeper.agent.pods.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import org.junit.jupiter.api.Test;

/** How the node's report about a pod meets the status that other clients write, too. */
class StoredStatusTest {
    private static final JsonObject REPORT = Json.parseObject("""
            {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
            """);

    @Test
    void conditionsOfOthersAreNoDifference() {
        JsonObject stored = Json.parseObject("""
                {"phase": "Running", "qosClass": "Burstable", "conditions": [
                  {"type": "DisruptionTarget", "status": "True"}, {"type": "Ready", "status": "True"}]}
                """);

        assertThat(StoredStatus.has(stored, REPORT)).isTrue();
    }

    @Test
    void anOwnConditionThatDiffersOrIsMissingIsADifference() {
        assertThat(StoredStatus.has(Json.parseObject("""
                {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "reason": "Odd"}]}
                """), REPORT)).isFalse();
        assertThat(StoredStatus.has(Json.parseObject("{\"phase\": \"Running\"}"), REPORT))
                .isFalse();
    }

    /** A condition of another client that was written a moment ago is not in the patch, so it stays. */
    @Test
    void aPatchHasTheOwnConditionsOnlyAndTakesFormerReasonsAway() {
        assertThat(StoredStatus.patch(JsonObject.EMPTY, REPORT)).isEqualTo(Json.parseObject("""
                {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "reason": null, "message": null}]}
                """));
    }

    @Test
    void firstAddressesAreSetAndLaterOnesReplaced() {
        JsonObject report = Json.parseObject("{\"podIPs\": [{\"ip\": \"10.1.0.8\"}]}");
        JsonObject stored = Json.parseObject("{\"podIPs\": [{\"ip\": \"10.1.0.7\"}]}");

        assertThat(StoredStatus.patch(JsonObject.EMPTY, report)).isEqualTo(report);
        assertThat(StoredStatus.patch(stored, report))
                .isEqualTo(Json.parseObject("{\"podIPs\": [{\"ip\": \"10.1.0.8\"}, {\"$patch\": \"replace\"}]}"));
    }
}
