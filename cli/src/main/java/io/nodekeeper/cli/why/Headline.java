package io.nodekeeper.cli.why;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.output.Printable;
import io.nodekeeper.controller.history.Decision;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The first sentence of a story: the state, its cause, since when, and what follows when; then the next command. Pure.
 *
 * <p>The first rule that applies gives the sentence, from what hides everything else (a blind controller, two machines
 * of one name) to what is least urgent.
 */
final class Headline {
    /** A verdict may be this much older than the time in the status, which has whole seconds. */
    private static final Duration SLACK = Duration.ofSeconds(2);

    private final Story story;
    private final JsonObject facts;
    private final Times times;

    private Headline(Story story, Instant now) {
        this.story = story;
        this.facts = story.facts();
        this.times = new Times(now);
    }

    /** The sentence, and on a second line the next command. */
    static String of(Story story, Instant now) {
        return new Headline(story, now).text();
    }

    private String text() {
        if (facts.isEmpty()) {
            return withoutFacts();
        }
        String ready = facts.text("ready");
        List<String> problems = facts.array("problems").strings().toList();
        // The controller names both machines; the companion on one of them knows only the boot id of the other.
        Optional<String> duplicate = Optional.of(facts.text("duplicate"))
                .filter(text -> !text.isEmpty())
                .or(() -> problems.stream()
                        .filter(text -> text.startsWith("DuplicateNode"))
                        .findFirst()
                        .map(Headline::message));
        if (facts.has("controllerIsBlind")) {
            return sentence(
                    "was " + state(ready) + " when it was last seen " + times.brief(facts.text("lastSignalAt"))
                            + ", and the controller is blind: " + facts.text("controllerIsBlind"),
                    "nodekeeper status");
        }
        if (duplicate.isPresent()) {
            return sentence(
                    "is " + state(ready) + ", but " + duplicate.get() + "; its status changes between the two",
                    "kubectl get node " + story.node()
                            + " -o jsonpath='{.status.nodeInfo.bootID} {.status.addresses}', several times");
        }
        return switch (ready) {
            case "True" -> ready(problems);
            case "False" ->
                sentence(
                        "is NotReady" + since() + ": " + cause(problems) + evictions(),
                        "nodekeeper doctor, on the node");
            case "Unknown" ->
                sentence(
                        "is Unknown" + since() + ", because " + silence() + evictions(),
                        "nodekeeper doctor, on the node, if it can be reached; else its console and power");
            default ->
                sentence(
                        "exists, but its kubelet or agent has never reported a status",
                        "journalctl -u kubelet, on the node");
        };
    }

    /** For a node that does not exist, or a source that knows no states: the last decision tells most. */
    private String withoutFacts() {
        Optional<Decision> last = last("Unknown", "Returned", "Registered", "Removed", Decision.READY_CHANGED);
        if (last.isEmpty()) {
            return sentence("has no state that " + story.source() + " knows", "kubectl get node " + story.node());
        }
        Decision decision = last.get();
        String when = times.brief(decision.at());
        return switch (decision.kind()) {
            case "Removed" -> {
                long deleted = story.decisions().stream()
                        .filter(later -> !later.at().isBefore(decision.at()) && isPodGone(later))
                        .count();
                yield sentence(
                        "does not exist: its Node object was deleted at " + when
                                + (deleted == 0
                                        ? ""
                                        : "; " + pods(deleted) + " on it " + (deleted == 1 ? "was" : "were")
                                                + " deleted since"),
                        "kubectl get events -A --field-selector involvedObject.name=" + story.node()
                                + "; to have it back, restart its kubelet or agent");
            }
            case "Unknown" ->
                sentence("became Unknown at " + when + ": " + decision.text(), "kubectl get node " + story.node());
            case "Returned" ->
                sentence("came back at " + when + ": " + decision.text(), "kubectl get node " + story.node());
            case Decision.READY_CHANGED ->
                sentence("reported at " + when + ": " + decision.text(), "kubectl get node " + story.node());
            default ->
                sentence("was first seen at " + when + ", without trouble since", "kubectl get node " + story.node());
        };
    }

    private String ready(List<String> problems) {
        if (facts.bool("underJudgement")) {
            return sentence(
                    "is Ready, but silent for " + facts.text("silentFor") + ", longer than its grace of "
                            + facts.text("grace") + "; a live read decides now whether it becomes Unknown",
                    "nodekeeper why " + story.node());
        }
        if (facts.bool("suspect")) {
            return sentence(
                    "is Ready, but later than usual: silent for " + facts.text("silentFor")
                            + (facts.has("deadline")
                                    ? "; it becomes Unknown at " + times.brief(facts.text("deadline"))
                                            + ", unless it sends a heartbeat"
                                    : ""),
                    "nodekeeper doctor, on the node");
        }
        if (!problems.isEmpty()) {
            return sentence("is Ready, but " + message(problems.getFirst()), "nodekeeper doctor, on the node");
        }
        if (facts.text("clock").contains("ahead") || facts.text("clock").contains("behind")) {
            return sentence(
                    "is Ready, but its clock is wrong: " + facts.text("clock")
                            + "; verdicts do not depend on it, certificates and logs do",
                    "chronyc tracking, on the node");
        }
        if (facts.has("cordoned")) {
            Optional<Decision> cordoned = last(Story.CORDONED);
            return sentence(
                    "is Ready, and " + facts.text("cordoned")
                            + cordoned.map(by -> ", since " + times.brief(by.at()))
                                    .orElse(""),
                    "kubectl uncordon " + story.node());
        }
        if (facts.has("dampedUntil")) {
            return sentence(
                    "is Ready, but fell " + facts.number("fellFromReady").orElse(0L)
                            + " times; its taints are kept until " + times.brief(facts.text("dampedUntil")),
                    "nodekeeper why " + story.node() + " --limit 100");
        }
        Optional<Decision> trouble = last(Headline::isTrouble);
        return sentence(
                "is Ready"
                        + (facts.has("silentFor") ? ", last heartbeat " + facts.text("silentFor") + " ago" : "")
                        + trouble.map(last -> "; last trouble at " + times.brief(last.at()) + ": " + last.text())
                                .orElse(""),
                "kubectl describe node " + story.node());
    }

    /** What hangs, if the agent named it, or else the load; else what Ready says. */
    private String cause(List<String> problems) {
        return problems.stream()
                .filter(text -> text.startsWith("RuntimeDegraded") || text.startsWith("PodNetworkUnavailable"))
                .findFirst()
                .or(() -> Optional.of(facts.text("load")).filter(load -> !load.isEmpty()))
                .map(Headline::message)
                .orElse(facts.has("cause") ? message(facts.text("cause")) : "its kubelet or agent says so");
    }

    private String silence() {
        Optional<Instant> since = changed().map(time -> time.minus(SLACK));
        return last("Unknown")
                // That of an earlier outage is no cause of this one.
                .filter(decision -> since.isEmpty() || !decision.at().isBefore(since.get()))
                .map(Decision::text)
                .orElse(facts.has("cause") ? message(facts.text("cause")) : "it sends no heartbeats");
    }

    private String since() {
        return facts.has("since") ? " since " + times.brief(facts.text("since")) : "";
    }

    /** When the node's present state began. */
    private Optional<Instant> changed() {
        return KubeTime.parse(facts.text("since"));
    }

    private String evictions() {
        Optional<Long> planned = facts.number("plannedEvictions");
        Optional<Instant> since = changed();
        long moved = story.decisions().stream()
                .filter(decision -> decision.kind().equals("Evicted"))
                .filter(decision -> since.isEmpty() || !decision.at().isBefore(since.get()))
                .count();
        boolean isAll = story.isCompleteSince(since.orElse(Instant.MIN));
        String done = moved == 0 ? "" : "; " + (isAll ? "" : "at least ") + pods(moved) + " moved away";
        return planned.isEmpty()
                ? done
                : done + "; " + pods(planned.get()) + (planned.get() == 1 ? " is" : " are")
                        + " to be evicted, the first at " + times.brief(facts.text("nextEviction"));
    }

    private static boolean isPodGone(Decision decision) {
        return decision.details().has("pod") && !decision.kind().equals("EvictionCancelled");
    }

    private static String pods(long count) {
        return count == 1 ? "1 pod" : count + " pods";
    }

    private Optional<Decision> last(String... kinds) {
        List<String> wanted = List.of(kinds);
        return last(decision -> wanted.contains(decision.kind()));
    }

    private Optional<Decision> last(Predicate<Decision> wanted) {
        return story.decisions().reversed().stream().filter(wanted).findFirst();
    }

    /** What a node that is Ready had before. A node that joins may report False first, which is none. */
    private static boolean isTrouble(Decision decision) {
        JsonObject details = decision.details();
        return switch (decision.kind()) {
            case "Unknown", "Returned", "GuardRefused", "GuardWouldRefuse", "GuardBudgetSpent" -> true;
            case Decision.READY_CHANGED ->
                details.has("was") && !details.text("ready").equals("True") || details.has("lastNotReady");
            default -> false;
        };
    }

    private static String state(String ready) {
        return switch (ready) {
            case "True" -> "Ready";
            case "False" -> "NotReady";
            default -> ready;
        };
    }

    /** {@code text} without the reason or type in front of it. */
    private static String message(String text) {
        int colon = text.indexOf(": ");
        String message = colon < 0 ? text : text.substring(colon + 2);
        return message.isEmpty() ? text : message;
    }

    private String sentence(String words, String next) {
        String end = words.endsWith(".") ? "" : ".";
        return Printable.line("Node " + story.node() + " " + words + end) + "\nNext: " + Printable.line(next);
    }
}
