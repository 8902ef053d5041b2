/** Alerts, notifications and dashboards, tried with the real Prometheus and Alertmanager. */
@NullMarked
package io.nodekeeper.it.alerts;

import org.jspecify.annotations.NullMarked;
