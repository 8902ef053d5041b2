package io.nodekeeper.bench;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.Main;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Defaults;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormat;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;

/**
 * {@code scripts/bench}: runs JMH as its own main class does; if it is interrupted, prints the table of the benchmarks that have
 * a result.
 */
public final class Microbenchmarks {
    private Microbenchmarks() {}

    /** Runs the benchmarks; the arguments are JMH's. */
    public static void main(String[] arguments) throws Exception {
        CommandLineOptions options;
        try {
            options = new CommandLineOptions(arguments);
        } catch (CommandLineOptionException e) {
            System.err.println(e.getMessage());
            System.exit(2);
            return;
        }
        if (onlyInforms(options) || options.getOutput().hasValue()) {
            Main.main(arguments);
            return;
        }
        Map<BenchmarkParams, RunResult> ended = Collections.synchronizedMap(new LinkedHashMap<>());
        Thread partial = new Thread(() -> print(ended), "partial table");
        Runtime.getRuntime().addShutdownHook(partial);
        try {
            new Runner(options, collecting(options, ended)).run();
            Runtime.getRuntime().removeShutdownHook(partial);
        } catch (RunnerException e) {
            Runtime.getRuntime().removeShutdownHook(partial);
            System.err.println(e.getMessage());
            System.exit(1);
        }
    }

    private static boolean onlyInforms(CommandLineOptions options) {
        return options.shouldHelp()
                || options.shouldList()
                || options.shouldListWithParams()
                || options.shouldListProfilers()
                || options.shouldListResultFormats();
    }

    /** JMH's own output, which also keeps the latest result of each benchmark: JMH passes one after each fork. */
    private static OutputFormat collecting(CommandLineOptions options, Map<BenchmarkParams, RunResult> ended) {
        OutputFormat shown = OutputFormatFactory.createFormatInstance(
                System.out, options.verbosity().orElse(Defaults.VERBOSITY));
        return (OutputFormat) Proxy.newProxyInstance(
                OutputFormat.class.getClassLoader(), new Class<?>[] {OutputFormat.class}, (proxy, method, values) -> {
                    if (method.getName().equals("endBenchmark") && values[0] instanceof BenchmarkResult result) {
                        ended.put(result.getParams(), new RunResult(result.getParams(), List.of(result)));
                    }
                    try {
                        return method.invoke(shown, values);
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                });
    }

    private static void print(Map<BenchmarkParams, RunResult> ended) {
        System.out.println("\nPARTIAL: it ended early; the table has only the benchmarks that had a result");
        ResultFormatFactory.getInstance(ResultFormatType.TEXT, System.out).writeOut(List.copyOf(ended.values()));
        System.out.flush();
    }
}
