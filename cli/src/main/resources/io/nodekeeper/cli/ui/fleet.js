// The fleet: counts, filters, search, the grid, and the nodes in trouble.
import { h, Component } from './preact.js';
import { ORDER, STATES, clock } from './states.js';
import { Grid } from './grid.js';
import { Hops, drawSight, sightText } from './strip.js';

/** The most nodes in the list beside the grid: more than people read. */
const LISTED = 100;

export function shown(fleet, filter) {
  const search = filter.search.toLowerCase();
  return [...fleet.nodes.values()].filter(node =>
    (!filter.state || node.state === filter.state)
    && (!filter.zone || node.zone === filter.zone)
    && (!search || node.name.toLowerCase().includes(search) || node.reason.toLowerCase().includes(search)));
}

/** The canvas, which Preact leaves alone. */
class GridBox extends Component {
  componentDidMount() {
    this.grid = new Grid(this.canvas, node => this.say(node), this.props.open);
    this.props.ref2(this.grid);
    this.grid.show(this.props.nodes());
  }

  shouldComponentUpdate() {
    return false;
  }

  say(node) {
    this.line.textContent = node
      ? node.name + ' · ' + (node.zone || 'no zone') + ' · ' + STATES[node.state].label
        + (node.reason ? ' · ' + node.reason : '') + (node.since ? ' · since ' + node.since : '')
      : 'Arrow keys move, Enter opens a node, / searches.';
  }

  render() {
    return h('div', { class: 'gridbox' },
      h('canvas', {
        ref: canvas => { this.canvas = canvas; },
        tabIndex: 0,
        role: 'application',
        'aria-label': 'Nodes by zone. Arrow keys move, Enter opens a node.',
        id: 'grid',
      }),
      h('div', { class: 'under mono', role: 'status', id: 'under', ref: line => { this.line = line; } },
        'Arrow keys move, Enter opens a node, / searches.'));
  }
}

class Strip extends Component {
  componentDidMount() { drawSight(this.canvas, this.props.fleet); }
  componentDidUpdate() { drawSight(this.canvas, this.props.fleet); }
  render({ fleet }) {
    return h('section', { class: 'panel', 'aria-label': 'Sight of the controller' },
      h('div', null, h('b', null, sightText(fleet.status))),
      h('div', null, h('canvas', {
        ref: canvas => { this.canvas = canvas; },
        role: 'img',
        'aria-label': 'Age of the canary over ten minutes, blind periods shaded',
      })),
      h(Hops, { status: fleet.status }));
  }
}

export function Fleet({ fleet, filter, choose, open, ref2 }) {
  const status = fleet.status;
  const counts = {};
  const zones = new Set();
  for (const node of fleet.nodes.values()) {
    counts[node.state] = (counts[node.state] || 0) + 1;
    zones.add(node.zone);
  }
  const nodes = shown(fleet, filter);
  const unwell = nodes.filter(node => node.state !== 'ready')
    .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || (a.since < b.since ? -1 : 1));
  return h('main', null,
    h('section', { class: 'bar', 'aria-label': 'Filters' },
      h('input', {
        id: 'search', type: 'search', placeholder: 'Search name or reason  ( / )', 'aria-label': 'Search name or reason',
        value: filter.search, onInput: event => choose({ search: event.target.value }),
      }),
      ORDER.filter(state => counts[state] || state === filter.state).map(state => h('button', {
        key: state, class: 'chip', 'data-state': state, 'aria-pressed': String(filter.state === state),
        onClick: () => choose({ state: filter.state === state ? '' : state }),
      }, h('span', { class: 'mark s-' + state, 'aria-hidden': 'true' }, STATES[state].letter),
      STATES[state].label + ' ' + (counts[state] || 0))),
      h('select', {
        'aria-label': 'Zone', value: filter.zone, onChange: event => choose({ zone: event.target.value }),
      }, h('option', { value: '' }, 'all zones'),
      [...zones].sort().map(zone => h('option', { key: zone, value: zone }, zone || 'no zone'))),
      h('span', { class: 'dim', id: 'count' }, nodes.length + ' of ' + fleet.nodes.size + ' nodes')),
    h('div', { class: 'cols' },
      h('section', { class: 'panel', 'aria-label': 'Fleet' },
        h(GridBox, { open, ref2, nodes: () => shown(fleet, filter) })),
      h('section', { class: 'panel', 'aria-label': 'Nodes that are not well' },
        h('h2', null, unwell.length === 0 ? 'All nodes shown are well' : 'Not well: ' + unwell.length),
        h('ul', { class: 'list' },
          unwell.slice(0, LISTED).map(node => h('li', { key: node.name },
            h('a', { href: '#/node/' + encodeURIComponent(node.name) },
              h('span', { class: 'mark s-' + node.state, 'aria-hidden': 'true' }, STATES[node.state].letter),
              h('b', null, ' ' + node.name), ' ' + STATES[node.state].label,
              node.since && Date.parse(node.since)
                ? h('span', { class: 'dim' }, ' since ' + clock(Date.parse(node.since))) : null,
              node.reason ? h('div', { class: 'dim' }, node.reason) : null)))),
        unwell.length > LISTED ? h('p', { class: 'dim' }, 'and ' + (unwell.length - LISTED) + ' more; use the filters') : null)),
    h('div', { class: 'cols' },
      h(Strip, { fleet }),
      h('section', { class: 'panel', 'aria-label': 'What comes next' },
        h('h2', null, 'Next'),
        (status.next || []).length === 0 ? h('span', { class: 'dim' }, 'nothing is about to happen')
          : h('ul', { class: 'list' }, status.next.slice(0, 8).map(next => h('li', { key: next.node + next.what },
            h('a', { href: '#/node/' + encodeURIComponent(next.node) },
              h('b', null, next.node), ' ' + next.what + ', ' + clock(Date.parse(next.at))))))),
      ),
    h('section', { class: 'panel zones', 'aria-label': 'Zones' },
      (status.zones || []).map(zone => h('span', { key: zone.zone },
        h('b', null, zone.zone || 'no zone'), ' ' + zone.state + ', ' + zone.nodes + ' nodes, ' + zone.notReady + ' not Ready'
          + (zone.waitingForTaint ? ', ' + zone.waitingForTaint + ' wait for a taint' : '')))));
}
