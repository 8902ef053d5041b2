package io.nodekeeper.cli.observe;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The observe report of a controller for people: sentences and tables. Pure. */
final class ReportDocument {
    private static final DateTimeFormatter SECONDS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);

    /** A section of verdicts: the outcome in JSON, and its title. */
    private record Section(String outcome, String title) {}

    private static final List<Section> SECTIONS = List.of(
            new Section("false", "False verdicts that would have been avoided"),
            new Section("premature", "Premature verdicts that would have been avoided"),
            new Section("earlier", "Outages that Nodekeeper would have declared earlier"),
            new Section("later", "Outages that Nodekeeper would have declared later"),
            new Section("oursAlone", "Verdicts that only Nodekeeper would have made"),
            new Section("undecided", "Verdicts that cannot be compared"));

    private final JsonObject report;
    private final JsonObject summary;
    private final List<Block> blocks = new ArrayList<>();

    private ReportDocument(JsonObject report) {
        this.report = report;
        this.summary = report.object("summary");
    }

    /**
     * The parts of the report.
     *
     * @param report as the controller makes it, with the source and links of this command
     */
    static List<Block> of(JsonObject report) {
        return new ReportDocument(report).build();
    }

    private List<Block> build() {
        blocks.add(new Block.Title("Nodekeeper observe report"));
        blocks.add(new Block.Paragraph(
                List.of(
                        Span.words("From " + time(report, "from") + " to " + time(report, "to") + " UTC ("
                                + duration(length(report)) + "). Source: "),
                        new Span.Code(report.text("source")),
                        Span.words(".")),
                false));
        coverage();
        blocks.add(Block.important(headline()));
        blocks.add(totals());
        SECTIONS.forEach(this::verdicts);
        if (number(report, "moreVerdicts") > 0) {
            blocks.add(Block.paragraph(number(report, "moreVerdicts") + " more verdicts are not listed; they are in the"
                    + " totals. A shorter --since lists them."));
        }
        changes();
        blindness();
        return blocks;
    }

    private void coverage() {
        JsonArray observed = report.array("observed");
        Duration seen = observed.objects().map(ReportDocument::length).reduce(Duration.ZERO, Duration::plus);
        if (report.has("completeSince")) {
            blocks.add(Block.important("The history has reached its limit: before " + time(report, "completeSince")
                    + " UTC entries are missing, and the totals are too small. --history-size sets the limit."));
        }
        if (observed.objects().findAny().isEmpty()) {
            blocks.add(
                    Block.important(
                            "The history has no observation in this period: no controller with --mode observe or guard wrote to it."));
            return;
        }
        if (seen.compareTo(length(report)) < 0) {
            List<String> periods = observed.objects()
                    .map(period -> time(period, "from") + " to " + time(period, "to"))
                    .toList();
            blocks.add(Block.paragraph("Nodekeeper observed for " + duration(seen) + " of this period: "
                    + String.join(", ", periods) + "."));
        }
        long waiting = number(report, "waiting");
        if (waiting > 0) {
            blocks.add(
                    Block.paragraph(
                            waiting == 1
                                    ? "1 change waits for the other controller, for up to 10m, and is not in this report."
                                    : waiting
                                            + " changes wait for the other controller, for up to 10m, and are not in this report."));
        }
        if (report.has("linksNeed")) {
            blocks.add(new Block.Paragraph(
                    List.of(
                            Span.words("The links into timelines work while this runs: "),
                            new Span.Code(report.text("linksNeed"))),
                    false));
        }
    }

    private String headline() {
        List<String> gains = new ArrayList<>();
        long avoided = number(summary, "falseVerdicts") + number(summary, "prematureVerdicts");
        long pods = number(summary, "podsSaved");
        if (avoided > 0) {
            gains.add(count(avoided, "verdict") + " about " + count(number(summary, "nodesSpared"), "node")
                    + (pods > 0 ? " and " + count(pods, "eviction") + " of pods" : "") + " would not have happened");
        }
        JsonObject earlier = summary.object("earlier");
        if (number(earlier, "verdicts") > 0) {
            gains.add(count(number(earlier, "verdicts"), "outage") + " would have been declared earlier, by "
                    + millis(earlier, "medianMillis") + " at the median");
        }
        JsonObject later = summary.object("later");
        if (number(later, "verdicts") > 0) {
            gains.add(count(number(later, "verdicts"), "outage") + " would have been declared later, by "
                    + millis(later, "medianMillis") + " at the median");
        }
        if (!gains.isEmpty()) {
            return "With Nodekeeper as the cluster's controller, " + String.join("; ", gains) + ".";
        }
        return number(summary, "changes") == 0
                ? "Nothing differed: neither controller changed a node or a pod."
                : "No verdict can be said to be better or worse; the tables below have all differences.";
    }

    private Block totals() {
        List<List<List<Span>>> rows = new ArrayList<>();
        row(rows, "false verdicts avoided", Long.toString(number(summary, "falseVerdicts")));
        row(rows, "premature verdicts avoided", Long.toString(number(summary, "prematureVerdicts")));
        row(rows, "pods saved from eviction", Long.toString(number(summary, "podsSaved")));
        row(rows, "outages declared earlier", lead(summary.object("earlier")));
        row(rows, "outages declared later", lead(summary.object("later")));
        row(rows, "verdicts by Nodekeeper alone", Long.toString(number(summary, "oursAlone")));
        row(rows, "verdicts that cannot be compared", Long.toString(number(summary, "undecided")));
        row(
                rows,
                "other evictions by the cluster's controller alone",
                Long.toString(number(summary, "otherEvictionsByTheirsAlone")));
        row(rows, "evictions by Nodekeeper alone", Long.toString(number(summary, "evictionsByOursAlone")));
        long periods = report.array("blind").objects().count() + number(report, "moreBlind");
        row(
                rows,
                "time in which Nodekeeper was blind",
                periods == 0 ? "none" : millis(summary, "blindMillis") + " in " + count(periods, "period"));
        return new Block.Table(List.of("what", "number"), rows);
    }

    private static String lead(JsonObject lead) {
        long verdicts = number(lead, "verdicts");
        if (verdicts == 0) {
            return "0";
        }
        long estimated = number(lead, "estimated");
        return verdicts + ", by " + millis(lead, "medianMillis") + " at the median, " + millis(lead, "longestMillis")
                + " at most, " + millis(lead, "totalMillis") + " in all"
                + (estimated == 0 ? "" : "; " + estimated + " estimated");
    }

    private void verdicts(Section section) {
        List<List<List<Span>>> rows = report.array("verdicts")
                .objects()
                .filter(verdict -> verdict.text("outcome").equals(section.outcome))
                .map(ReportDocument::verdict)
                .toList();
        if (!rows.isEmpty()) {
            blocks.add(new Block.Heading(section.title));
            blocks.add(new Block.Table(List.of("time (UTC)", "node", "what", "pods saved", "more"), rows));
        }
    }

    private static List<List<Span>> verdict(JsonObject verdict) {
        List<Span> more = new ArrayList<>();
        if (verdict.has("timeline")) {
            more.add(new Span.Link("timeline", verdict.text("timeline")));
            more.add(Span.words(", "));
        }
        more.add(new Span.Code(verdict.text("why")));
        return List.of(
                List.of(Span.words(time(verdict, "at"))),
                List.of(new Span.Code(verdict.text("node"))),
                List.of(Span.words(verdict.text("text"))),
                List.of(Span.words(Long.toString(number(verdict, "podsSaved")))),
                more);
    }

    private void changes() {
        List<List<List<Span>>> rows = report.array("changes")
                .objects()
                .map(change -> List.<List<Span>>of(
                        List.of(new Span.Code(change.text("change"))),
                        List.of(Span.words(Long.toString(number(change, "both")))),
                        List.of(Span.words(change.has("medianLeadMillis") ? millis(change, "medianLeadMillis") : "")),
                        List.of(Span.words(Long.toString(number(change, "oursAlone")))),
                        List.of(Span.words(Long.toString(number(change, "theirsAlone")))),
                        List.of(Span.words(Long.toString(number(change, "theirsFalse"))))))
                .toList();
        if (!rows.isEmpty()) {
            blocks.add(new Block.Heading("Conditions, taints and pods"));
            blocks.add(Block.paragraph(
                    "How often each change was made by both controllers and by one alone. The lead is how much earlier"
                            + " Nodekeeper was, at the median; negative if it was later."));
            blocks.add(new Block.Table(
                    List.of("change", "both", "lead", "Nodekeeper alone", "the cluster's controller alone", "false"),
                    rows));
        }
    }

    private void blindness() {
        List<List<List<Span>>> rows = report.array("blind")
                .objects()
                .map(period -> List.<List<Span>>of(
                        List.of(Span.words(time(period, "from"))),
                        List.of(Span.words(period.bool("ended") ? time(period, "to") : "not ended")),
                        List.of(Span.words(duration(length(period)))),
                        List.of(Span.words(period.text("hop").replace('_', ' ')))))
                .toList();
        if (!rows.isEmpty()) {
            blocks.add(new Block.Heading("Periods in which Nodekeeper was blind"));
            blocks.add(Block.paragraph("It judges no node in these periods, and finds dead nodes later."));
            blocks.add(new Block.Table(List.of("from (UTC)", "to (UTC)", "for", "what stalled"), rows));
            if (number(report, "moreBlind") > 0) {
                blocks.add(Block.paragraph("And " + number(report, "moreBlind") + " more."));
            }
        }
    }

    private static void row(List<List<List<Span>>> rows, String what, String number) {
        rows.add(List.of(List.of(Span.words(what)), List.of(Span.words(number))));
    }

    private static long number(JsonObject json, String name) {
        return json.number(name).orElse(0L);
    }

    private static String count(long number, String what) {
        return number == 1 ? "1 " + what : number + " " + what + "s";
    }

    private static String millis(JsonObject json, String name) {
        return duration(Duration.ofMillis(number(json, name)));
    }

    private static String time(JsonObject json, String name) {
        return KubeTime.parse(json.text(name)).map(SECONDS::format).orElse(json.text(name));
    }

    private static Duration length(JsonObject period) {
        Optional<Instant> from = KubeTime.parse(period.text("from"));
        Optional<Instant> to = KubeTime.parse(period.text("to"));
        return from.isPresent() && to.isPresent() ? Duration.between(from.get(), to.get()) : Duration.ZERO;
    }

    /** To the second from a minute on. */
    private static String duration(Duration duration) {
        return GoDuration.format(
                duration.abs().compareTo(Duration.ofMinutes(1)) < 0
                        ? Duration.ofMillis(duration.toMillis())
                        : Duration.ofSeconds(duration.toSeconds()));
    }
}
