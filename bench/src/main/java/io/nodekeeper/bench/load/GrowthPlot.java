package io.nodekeeper.bench.load;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** Draws the costs of growing fleets as SVG: processor and memory, each over the number of nodes. */
final class GrowthPlot {
    private static final int WIDTH = 360;
    private static final int HEIGHT = 220;
    private static final int MARKS = 5;
    private static final String SERVER = "#1b6ca8";
    private static final String CONTROLLER = "#b3541e";

    private final StringBuilder out = new StringBuilder();
    private final List<GrowthRow> rows;

    private GrowthPlot(List<GrowthRow> rows) {
        this.rows = rows;
    }

    /** The picture of {@code rows}, which are sorted by their number of nodes; at least one. */
    static String of(List<GrowthRow> rows) {
        GrowthPlot plot = new GrowthPlot(rows);
        plot.add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 320\" role=\"img\" aria-labelledby=\"t\"");
        plot.add("     font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif\" font-size=\"13\">");
        plot.add("  <title id=\"t\">Processor and memory of API server and controller by the number of nodes</title>");
        plot.add("  <rect x=\"1\" y=\"1\" width=\"898\" height=\"318\" rx=\"8\" fill=\"#ffffff\" stroke=\"#b8bec6\"/>");
        plot.panel(64, "processor, % of one core", cost -> cost.core() * 100);
        plot.panel(514, "resident memory, MB", cost -> cost.bytes() / 1048576.0);
        plot.add("  <text x=\"64\" y=\"308\" fill=\"" + SERVER + "\">API server</text>");
        plot.add("  <text x=\"144\" y=\"308\" fill=\"" + CONTROLLER + "\">controller</text>");
        plot.add("</svg>");
        return plot.out.toString();
    }

    private void panel(int left, String title, ToDoubleFunction<GrowthRow.Cost> value) {
        double most = rows.stream()
                .mapToDouble(row -> Math.max(value.applyAsDouble(row.server()), value.applyAsDouble(row.controller())))
                .max()
                .orElse(1);
        double top = round(most);
        int bottom = 40 + HEIGHT;
        add("  <text x=\"%d\" y=\"26\" fill=\"#1f2933\">%s</text>", left, title);
        for (int mark = 0; mark <= MARKS; mark++) {
            double y = bottom - (double) HEIGHT * mark / MARKS;
            add("  <path d=\"M%d %.1fh%d\" stroke=\"#dfe3e8\"/>", left, y, WIDTH);
            add(
                    "  <text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"#52606d\">%.0f</text>",
                    left - 8, y + 4, top * mark / MARKS);
        }
        for (GrowthRow row : rows) {
            add(
                    "  <text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#52606d\" font-size=\"11\">%s</text>",
                    x(left, row), bottom + 18, row.nodes() % 1_000 == 0 ? row.nodes() / 1_000 + "k" : row.nodes());
        }
        line(left, top, value, SERVER, GrowthRow::server);
        line(left, top, value, CONTROLLER, GrowthRow::controller);
    }

    private void line(
            int left,
            double top,
            ToDoubleFunction<GrowthRow.Cost> value,
            String color,
            Function<GrowthRow, GrowthRow.Cost> process) {
        String points = rows.stream()
                .map(row -> text(
                        "%.1f,%.1f", x(left, row), 40 + HEIGHT * (1 - value.applyAsDouble(process.apply(row)) / top)))
                .collect(Collectors.joining(" "));
        add("  <polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>", points, color);
        for (String point : points.split(" ")) {
            String[] at = point.split(",");
            add("  <circle cx=\"%s\" cy=\"%s\" r=\"4\" fill=\"%s\"/>", at[0], at[1], color);
        }
    }

    private double x(int left, GrowthRow row) {
        return left + (double) WIDTH * row.nodes() / rows.getLast().nodes();
    }

    /** The next number above {@code most} that has one digit and zeros, for an axis with five marks. */
    private static double round(double most) {
        double unit = Math.pow(10, Math.floor(Math.log10(Math.max(most, 1))));
        return Math.ceil(most / unit) * unit;
    }

    private void add(String line, Object... values) {
        out.append(values.length == 0 ? line : text(line, values)).append('\n');
    }

    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
