package io.nodekeeper.apiserver.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.apiserver.apply.ManagedFields.Manager;
import io.nodekeeper.apiserver.apply.ServerSideApply.Applied;
import io.nodekeeper.apiserver.schema.KindSchemas;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The object and the owners of its fields after an apply. */
class ServerSideApplyTest {
    private static final Schema NODE = KindSchemas.of("v1", "Node");
    private static final Schema POD = KindSchemas.of("v1", "Pod");
    private static final Schema SERVICE = KindSchemas.of("v1", "Service");
    private static final Schema BUDGET = KindSchemas.of("policy/v1", "PodDisruptionBudget");
    private static final Manager ONE = new Manager("one", true, "v1", "");
    private static final Manager TWO = new Manager("two", true, "v1", "");
    private static final String NOW = "2026-11-21T07:00:00Z";

    private static JsonObject node(String text) {
        return Json.parseObject(text.replace('\'', '"'));
    }

    private static Applied apply(Manager manager, JsonObject live, JsonObject wanted, ManagedFields owners) {
        return ServerSideApply.apply(live, wanted, FieldSet.of(wanted, NODE), owners, manager, false, NODE, NOW);
    }

    @Test
    @Tag("W39")
    void fieldsV1HasKubernetesForm() {
        JsonObject node = node("{'metadata':{'labels':{'a':'1'},'finalizers':['x.y/z']},"
                + "'spec':{'taints':[{'key':'k'}],'unschedulable':true},"
                + "'status':{'conditions':[{'type':'Ready','status':'True'}]}}");
        FieldSet fields = FieldSet.of(node, NODE);
        assertThat(fields.toJson())
                .hasToString(
                        "{\"f:metadata\":{\"f:finalizers\":{\"v:\\\"x.y/z\\\"\":{}},\"f:labels\":{\"f:a\":{}}},\"f:spec\":{\"f:taints\":{},\"f:unschedulable\":{}},\"f:status\":{\"f:conditions\":{\"k:{\\\"type\\\":\\\"Ready\\\"}\":{\".\":{},\"f:status\":{},\"f:type\":{}}}}}");
        assertThat(FieldSet.parse(fields.toJson())).isEqualTo(fields);
        assertThat(fields.paths(100))
                .containsExactly(
                        ".metadata.finalizers[=\"x.y/z\"]",
                        ".metadata.labels.a",
                        ".spec.taints",
                        ".spec.unschedulable",
                        ".status.conditions[type=\"Ready\"]",
                        ".status.conditions[type=\"Ready\"].status",
                        ".status.conditions[type=\"Ready\"].type");
    }

    @Test
    @Tag("W39")
    void protocolIsPartOfTheKeyOfPorts() {
        JsonObject pod = node("{'spec':{'containers':[{'name':'c','ports':[{'containerPort':53,'protocol':'UDP'},"
                + "{'containerPort':53}]}]}}");
        assertThat(FieldSet.of(pod, POD).paths(100))
                .contains(
                        ".spec.containers[name=\"c\"].ports[containerPort=53,protocol=\"UDP\"]",
                        ".spec.containers[name=\"c\"].ports[containerPort=53,protocol=\"TCP\"]");
    }

    @Test
    @Tag("W39")
    void fieldThatIsNoLongerAppliedIsRemovedUnlessAnotherManagerOwnsIt() {
        JsonObject both = node("{'metadata':{'labels':{'a':'1','b':'2'}}}");
        Applied one = apply(ONE, JsonObject.EMPTY, both, ManagedFields.NONE);
        Applied two = apply(TWO, one.object(), node("{'metadata':{'labels':{'b':'2'}}}"), one.owners());
        Applied dropped = apply(ONE, two.object(), node("{'metadata':{}}"), two.owners());
        assertThat(dropped.object()).hasToString("{\"metadata\":{\"labels\":{\"b\":\"2\"}}}");
        assertThat(apply(TWO, dropped.object(), node("{'metadata':{}}"), dropped.owners())
                        .object())
                .hasToString("{\"metadata\":{}}");
    }

    @Test
    @Tag("W39")
    void itemIsRemovedExceptForFieldsOfOtherManagers() {
        JsonObject wanted =
                node("{'status':{'conditions':[{'type':'A','status':'True'},{'type':'B','status':'True'}]}}");
        Applied one = apply(ONE, JsonObject.EMPTY, wanted, ManagedFields.NONE);
        JsonObject live = node("{'status':{'conditions':[{'type':'A','status':'True','reason':'nobodys'},"
                + "{'type':'B','status':'True'}]}}");
        Applied two = apply(TWO, live, node("{'status':{'conditions':[{'type':'B','message':'mine'}]}}"), one.owners());
        Applied dropped = apply(ONE, two.object(), node("{'status':{}}"), two.owners());
        assertThat(dropped.object())
                .hasToString("{\"status\":{\"conditions\":[{\"type\":\"B\",\"message\":\"mine\"}]}}");
    }

    @Test
    @Tag("W39")
    void otherValueIsAConflictAndSameValueIsShared() {
        Applied one = apply(ONE, JsonObject.EMPTY, node("{'metadata':{'labels':{'a':'1'}}}"), ManagedFields.NONE);
        assertThat(apply(TWO, one.object(), node("{'metadata':{'labels':{'a':'1'}}}"), one.owners())
                        .conflicts())
                .isEmpty();
        Applied contested = apply(TWO, one.object(), node("{'metadata':{'labels':{'a':'2'}}}"), one.owners());
        assertThat(contested.refusal().getMessage())
                .isEqualTo("Apply failed with 1 conflict: conflict with \"one\": .metadata.labels.a");
    }

    @Test
    @Tag("W39")
    void updateTakesOwnershipOfTheFieldsItChanges() {
        Applied one = apply(
                ONE, JsonObject.EMPTY, node("{'metadata':{'labels':{'a':'1','b':'2','c':'3'}}}"), ManagedFields.NONE);
        Manager writer = new Manager("kubectl-label", false, "v1", "");
        FieldComparison change =
                FieldComparison.of(one.object(), node("{'metadata':{'labels':{'a':'9','b':'2'}}}"), NODE);
        ManagedFields after = one.owners().written(writer, change, NOW);
        assertThat(after.of(ONE).paths(100)).containsExactly(".metadata.labels.b");
        assertThat(after.of(writer).paths(100)).containsExactly(".metadata.labels.a");
    }

    private static Applied apply(
            Manager manager, JsonObject live, String wanted, ManagedFields owners, boolean force, Schema schema) {
        JsonObject object = node(wanted);
        return ServerSideApply.apply(live, object, FieldSet.of(object, schema), owners, manager, force, schema, NOW);
    }

    @Test
    @Tag("W39")
    void selectorIsOneValueWithOneOwner() {
        Applied one = apply(
                ONE,
                JsonObject.EMPTY,
                "{'spec':{'minAvailable':1,'selector':{'matchLabels':{'app':'a'}}}}",
                ManagedFields.NONE,
                false,
                BUDGET);
        String other = "{'spec':{'selector':{'matchLabels':{'tier':'b'}}}}";
        Applied refused = apply(TWO, one.object(), other, one.owners(), false, BUDGET);
        Applied forced = apply(TWO, one.object(), other, one.owners(), true, BUDGET);

        assertThat(refused.refusal().getMessage())
                .isEqualTo("Apply failed with 1 conflict: conflict with \"one\": .spec.selector");
        assertThat(forced.object())
                .hasToString("{\"spec\":{\"minAvailable\":1,\"selector\":{\"matchLabels\":{\"tier\":\"b\"}}}}");
        assertThat(forced.owners().of(ONE).paths(100)).containsExactly(".spec.minAvailable");
        assertThat(forced.owners().of(TWO).paths(100)).containsExactly(".spec.selector");
    }

    @Test
    @Tag("W39")
    void equalSelectorIsSharedAndGoesWithItsLastOwner() {
        String wanted = "{'spec':{'nodeSelector':{'disk':'ssd','zone':'a'}}}";
        Applied one = apply(ONE, JsonObject.EMPTY, wanted, ManagedFields.NONE, false, POD);
        Applied two = apply(TWO, one.object(), wanted, one.owners(), false, POD);
        Applied left = apply(ONE, two.object(), "{'spec':{'hostNetwork':true}}", two.owners(), false, POD);
        Applied gone = apply(TWO, left.object(), "{'spec':{}}", left.owners(), false, POD);

        assertThat(two.conflicts()).isEmpty();
        assertThat(left.object().object("spec").object("nodeSelector"))
                .hasToString("{\"disk\":\"ssd\",\"zone\":\"a\"}");
        assertThat(gone.object()).hasToString("{\"spec\":{\"hostNetwork\":true}}");
    }

    @Test
    @Tag("W39")
    void managerRemovesAPartOfItsOwnSelector() {
        Applied one = apply(
                ONE, JsonObject.EMPTY, "{'spec':{'selector':{'a':'1','b':'2'}}}", ManagedFields.NONE, false, SERVICE);
        assertThat(apply(ONE, one.object(), "{'spec':{'selector':{'b':'2'}}}", one.owners(), false, SERVICE)
                        .object())
                .hasToString("{\"spec\":{\"selector\":{\"b\":\"2\"}}}");
    }

    @Test
    @Tag("W39")
    void itemOfAListByKeyCanBeOneValue() {
        FieldSet fields = FieldSet.of(
                node("{'metadata':{'ownerReferences':[{'uid':'u','kind':'Node','name':'n'}]},"
                        + "'spec':{'imagePullSecrets':[{'name':'s'}]}}"),
                POD);
        assertThat(fields.paths(100))
                .containsExactly(".metadata.ownerReferences[uid=\"u\"]", ".spec.imagePullSecrets[name=\"s\"]");
    }

    @Test
    @Tag("W39")
    void updateOfAPartOfASelectorTakesTheWhole() {
        Applied one = apply(
                ONE, JsonObject.EMPTY, "{'spec':{'selector':{'a':'1','b':'2'}}}", ManagedFields.NONE, false, SERVICE);
        Manager writer = new Manager("kubectl-edit", false, "v1", "");
        FieldComparison change =
                FieldComparison.of(one.object(), node("{'spec':{'selector':{'a':'1','b':'3'}}}"), SERVICE);
        ManagedFields after = one.owners().written(writer, change, NOW);
        assertThat(after.of(ONE).paths(100)).isEmpty();
        assertThat(after.of(writer).paths(100)).containsExactly(".spec.selector");
    }

    /** An older version of the server recorded owners of parts. */
    @Test
    @Tag("W39")
    void ownersOfPartsOfASelectorOwnTheWhole() {
        ManagedFields stored = ManagedFields.parse(
                (JsonArray) Json.parse(
                        "[{'manager':'one','operation':'Apply','apiVersion':'v1','fieldsV1':{'f:spec':{'f:selector':{'f:a':{}}}}},"
                                        .replace('\'', '"')
                                + "{'manager':'two','operation':'Apply','apiVersion':'v1','fieldsV1':{'f:spec':{'f:selector':{'.':{},'f:b':{}},'f:type':{}}}}]"
                                        .replace('\'', '"')),
                SERVICE);
        JsonObject live = node("{'spec':{'selector':{'a':'1','b':'2'}}}");
        Applied refused = apply(ONE, live, "{'spec':{'selector':{'a':'1'}}}", stored, false, SERVICE);
        Applied left = apply(ONE, live, "{'spec':{}}", stored, false, SERVICE);
        Applied gone = apply(TWO, left.object(), "{'spec':{}}", left.owners(), false, SERVICE);

        assertThat(stored.of(ONE).paths(100)).containsExactly(".spec.selector");
        assertThat(stored.of(TWO).paths(100)).containsExactly(".spec.selector", ".spec.type");
        assertThat(refused.refusal().getMessage())
                .isEqualTo("Apply failed with 1 conflict: conflict with \"two\": .spec.selector");
        assertThat(left.object()).isEqualTo(live);
        assertThat(gone.object()).hasToString("{\"spec\":{}}");
    }

    // ---- properties for random objects -----------------------------------------------------------------------------

    @Property(tries = 500)
    @net.jqwik.api.Tag("W39")
    void secondApplyChangesNothing(@ForAll("nodes") JsonObject live, @ForAll("nodes") JsonObject wanted) {
        Applied first = apply(ONE, live, wanted, ManagedFields.NONE);
        Applied second = apply(ONE, first.object(), wanted, first.owners());
        assertThat(second.object()).isEqualTo(first.object());
        assertThat(second.owners().toJson()).isEqualTo(first.owners().toJson());
    }

    @Property(tries = 500)
    @net.jqwik.api.Tag("W39")
    void whatWasAppliedIsThereAndOwned(
            @ForAll("nodes") JsonObject live, @ForAll("nodes") JsonObject earlier, @ForAll("nodes") JsonObject wanted) {
        Applied before = apply(ONE, live, earlier, ManagedFields.NONE);
        Applied applied = apply(ONE, before.object(), wanted, before.owners());
        FieldSet asked = FieldSet.of(wanted, NODE);
        assertThat(asked.minus(FieldSet.of(applied.object(), NODE))
                        .minus(filled(wanted, applied.object()))
                        .paths(100))
                .isEmpty();
        assertThat(FieldComparison.of(applied.object(), wanted, NODE)
                        .written()
                        .minus(filled(wanted, applied.object()))
                        .paths(100))
                .isEmpty();
        assertThat(applied.owners().of(ONE)).isEqualTo(asked);
    }

    @Property(tries = 500)
    @net.jqwik.api.Tag("W39")
    void managersOfDifferentFieldsHaveNoConflict(@ForAll("nodes") JsonObject wanted) {
        JsonObject labels =
                JsonObject.builder().put("metadata", wanted.object("metadata")).build();
        JsonObject rest = wanted.without("metadata");
        Applied one = apply(ONE, JsonObject.EMPTY, labels, ManagedFields.NONE);
        Applied two = apply(TWO, one.object(), rest, one.owners());
        assertThat(two.conflicts()).isEmpty();
        assertThat(two.owners().of(ONE).intersection(two.owners().of(TWO)).isEmpty())
                .isTrue();
        Applied gone = apply(TWO, two.object(), JsonObject.EMPTY, two.owners());
        assertThat(gone.object().object("metadata")).isEqualTo(wanted.object("metadata"));
        assertThat(gone.owners().of(ONE)).isEqualTo(two.owners().of(ONE));
    }

    @Property(tries = 500)
    @net.jqwik.api.Tag("W39")
    void applyWithoutFieldsLeavesOnlyFieldsOfOthers(
            @ForAll("nodes") JsonObject live, @ForAll("nodes") JsonObject wanted) {
        ManagedFields before =
                ManagedFields.NONE.with(new Manager("before", false, "v1", ""), FieldSet.of(live, NODE), NOW);
        Applied applied = ServerSideApply.apply(live, wanted, FieldSet.of(wanted, NODE), before, ONE, true, NODE, NOW);
        Applied dropped = apply(ONE, applied.object(), JsonObject.EMPTY, applied.owners());
        FieldSet left = FieldSet.of(dropped.object(), NODE);
        FieldSet untouched = applied.owners().of(new Manager("before", false, "v1", ""));
        // Exactly the fields of the other managers are left.
        assertThat(untouched.minus(left).minus(filled(live, dropped.object())).paths(100))
                .isEmpty();
        assertThat(left.minus(FieldSet.of(live, NODE))
                        .minus(filled(dropped.object(), live))
                        .paths(100))
                .isEmpty();
    }

    /** The empty objects and lists of {@code value} that have content in {@code other}, so they are no members there. */
    private static FieldSet filled(JsonValue value, JsonValue other) {
        if (value instanceof JsonObject none && none.isEmpty()) {
            return other instanceof JsonObject content && !content.isEmpty() ? FieldSet.HERE : FieldSet.EMPTY;
        }
        if (value instanceof JsonArray none && none.isEmpty()) {
            return other instanceof JsonArray content && !content.isEmpty() ? FieldSet.HERE : FieldSet.EMPTY;
        }
        FieldSet filled = FieldSet.EMPTY;
        if (value instanceof JsonObject fields && other instanceof JsonObject others) {
            for (Map.Entry<String, JsonValue> field : fields.fields().entrySet()) {
                FieldSet inner = others.get(field.getKey())
                        .map(same -> filled(field.getValue(), same))
                        .orElse(FieldSet.EMPTY);
                filled = filled.union(FieldSet.above(new TreeMap<>(Map.of(PathElement.field(field.getKey()), inner))));
            }
        }
        return filled;
    }

    @Provide
    Arbitrary<JsonObject> nodes() {
        Arbitrary<JsonObject> labels = Arbitraries.maps(Arbitraries.of("a", "b", "c"), Arbitraries.of("1", "2"))
                .ofMaxSize(3)
                .map(JsonObject::ofStrings);
        Arbitrary<JsonArray> finalizers =
                Arbitraries.of("x.y/a", "x.y/b", "x.y/c").set().ofMaxSize(3).map(JsonArray::ofStrings);
        Arbitrary<JsonArray> conditions = Arbitraries.of("Ready", "MemoryPressure", "DiskPressure")
                .set()
                .ofMaxSize(3)
                .flatMap(types -> Combinators.combine(Arbitraries.of("True", "False"), Arbitraries.of("", "R"))
                        .as((status, reason) -> new JsonArray(types.stream()
                                .<JsonValue>map(type -> JsonObject.builder()
                                        .put("type", type)
                                        .put("status", status)
                                        .putUnlessEmpty("reason", reason)
                                        .build())
                                .toList())));
        Arbitrary<JsonArray> taints = Arbitraries.of("k", "l")
                .list()
                .ofMaxSize(2)
                .map(keys -> new JsonArray(keys.stream()
                        .<JsonValue>map(key -> JsonObject.EMPTY.with("key", key))
                        .toList()));
        Arbitrary<List<Boolean>> parts = Arbitraries.of(true, false).list().ofSize(4);
        return Combinators.combine(labels, finalizers, conditions, taints, parts)
                .as((label, finalizer, condition, taint, there) -> {
                    JsonObject node = JsonObject.EMPTY;
                    if (there.get(0)) {
                        node = node.update("metadata", metadata -> metadata.with("labels", label));
                    }
                    if (there.get(1)) {
                        node = node.update("metadata", metadata -> metadata.with("finalizers", finalizer));
                    }
                    if (there.get(2)) {
                        node = node.update("status", status -> status.with("conditions", condition));
                    }
                    return there.get(3) ? node.update("spec", spec -> spec.with("taints", taint)) : node;
                });
    }
}
