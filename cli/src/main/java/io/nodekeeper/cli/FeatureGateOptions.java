package io.nodekeeper.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/** Behaviour that can be switched, in Kubernetes' style. */
final class FeatureGateOptions {
    @Option(
            names = "--feature-gates",
            split = ",",
            paramLabel = "NAME=true|false",
            description = "Switches single improvements off, which brings back what Kubernetes does, as in"
                    + " ObserverGuard=false. Several are separated by commas.")
    Map<String, Boolean> gates = new LinkedHashMap<>();
}
