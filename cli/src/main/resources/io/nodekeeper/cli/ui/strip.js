// The controller's sight over the last ten minutes, and the lag of each hop.
import { h } from './preact.js';
import { clock, colour, duration } from './states.js';

const SPAN = 600_000;

/** Draws the age of the canary and the blind periods. */
export function drawSight(canvas, fleet) {
  const width = canvas.parentElement.clientWidth;
  const scale = window.devicePixelRatio || 1;
  const height = 64;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = height + 'px';
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const end = fleet.samples.length ? fleet.samples[fleet.samples.length - 1].at : Date.now();
  const x = time => width - (end - time) / SPAN * width;
  const tolerance = (fleet.status.sight || {}).toleranceMs || 10_000;
  const top = Math.max(tolerance * 1.5, ...fleet.samples.map(sample => sample.age));
  const y = age => height - 16 - age / top * (height - 22);
  context.globalAlpha = 0.3;
  context.fillStyle = colour('blind');
  for (const period of fleet.blind) {
    const from = Math.max(0, x(Date.parse(period.from)));
    const to = x(Date.parse(period.to));
    if (to > 0) context.fillRect(from, 0, Math.max(2, to - from), height - 14);
  }
  context.globalAlpha = 1;
  fleet.samples.forEach((sample, i) => {
    const next = i + 1 < fleet.samples.length ? x(fleet.samples[i + 1].at) : width;
    context.fillStyle = colour(sample.blind ? 'unknown' : 'ready');
    const from = x(sample.at);
    context.fillRect(from, y(sample.age), Math.max(1, next - from), height - 16 - y(sample.age));
  });
  context.strokeStyle = colour('dim');
  context.setLineDash([4, 4]);
  context.beginPath();
  context.moveTo(0, y(tolerance));
  context.lineTo(width, y(tolerance));
  context.stroke();
  context.setLineDash([]);
  context.fillStyle = colour('dim');
  context.font = '12px system-ui, "DejaVu Sans", sans-serif';
  for (let time = Math.ceil((end - SPAN) / 120_000) * 120_000; time < end; time += 120_000) {
    context.fillText(clock(time).slice(0, 5), x(time) + 3, height - 3);
    context.fillRect(x(time), height - 14, 1, 14);
  }
}

/** What is measured of each hop: the canary's way, the nodes' heartbeats, and the advice that follows. */
export function Hops({ status }) {
  const sight = status.sight || {};
  const lag = status.lag || {};
  return h('div', { class: 'hops' },
    h('span', null, h('span', { class: 'dim' }, 'Canary '), duration(sight.canaryAgeMs || 0) + ' old, blind from '
      + duration(sight.toleranceMs || 0)),
    sight.hop ? h('span', null, h('span', { class: 'dim' }, 'Stalled hop '), h('b', null, sight.hop)) : null,
    measured('Node to controller', lag.lags), measured('Between heartbeats', lag.gaps),
    h('span', { class: 'dim' }, lag.advice || ''));
}

function measured(label, summary) {
  if (!summary || !summary.count) return null;
  return h('span', null, h('span', { class: 'dim' }, label + ' '), 'p50 ' + duration(summary.p50Millis) + ', p99 '
    + duration(summary.p99Millis) + ', max ' + duration(summary.maxMillis));
}

export function words(name) {
  return name.replace(/_/g, ' ').replace(/([a-z])([A-Z])/g, (all, a, b) => a + ' ' + b.toLowerCase())
    .replace(/ millis$| ms$/i, ' (ms)');
}

export function sightText(status) {
  const sight = status.sight || {};
  if (sight.blindness) return 'The controller is blind: ' + sight.blindness;
  return 'The controller sees: its canary came back ' + duration(sight.canaryAgeMs || 0) + ' ago';
}
