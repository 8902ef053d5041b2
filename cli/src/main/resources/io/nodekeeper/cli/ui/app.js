// The page: routes, the switch of colours, keys, and when to draw.
import { h, render } from './preact.js';
import { Fleet, shown } from './fleet.js';
import { NodeView } from './node.js';
import { follow } from './live.js';

const root = document.getElementById('app');
const fleet = { nodes: new Map(), status: {}, trouble: 'waiting for the controller', samples: [], blind: [] };
let filter = { search: '', state: '', zone: '' };
let grid = null;
let waiting = false;

/** The node and time in the address, such as #/node/n1?at=2026-11-21T16:13:52Z; null for the fleet. */
function route() {
  const match = location.hash.match(/^#\/node\/([^?]+)(?:\?at=(.*))?$/);
  if (!match) return null;
  try {
    return { name: decodeURIComponent(match[1]), at: match[2] ? decodeURIComponent(match[2]) : '' };
  } catch (error) {
    return null;
  }
}

function open(name, at) {
  location.hash = '#/node/' + encodeURIComponent(name) + (at ? '?at=' + encodeURIComponent(at) : '');
}

function choose(change) {
  filter = { ...filter, ...change };
  if (grid) grid.show(shown(fleet, filter));
  draw();
}

function theme() {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'light' : 'dark';
  localStorage.setItem('theme', document.documentElement.dataset.theme);
  if (grid) grid.redraw();
  draw();
}

function draw() {
  const node = route();
  const status = fleet.status;
  const blind = (status.sight || {}).blindness;
  document.title = node ? node.name + ' · Nodekeeper' : (blind ? 'BLIND · ' : '') + 'Nodekeeper';
  if (node) grid = null;
  render(h('div', null,
    h('header', { class: 'top' },
      h('h1', null, h('a', { href: '#/' }, 'Nodekeeper')),
      h('span', { id: 'counts' }, status.nodes === undefined ? '' : status.nodes + ' nodes, ' + status.ready + ' Ready, '
        + status.notReady + ' NotReady, ' + status.unknown + ' Unknown'),
      h('span', { class: 'grow' }),
      node ? h('a', { href: '#/' }, 'All nodes (Esc)') : null,
      h('button', { id: 'theme', onClick: theme }, 'Light / dark')),
    blind ? h('div', { class: 'notice', role: 'alert' }, 'The controller is blind: ' + blind) : null,
    fleet.trouble ? h('div', { class: 'notice trouble', role: 'alert', id: 'trouble' }, fleet.trouble) : null,
    node ? h(NodeView, { key: node.name, name: node.name, at: node.at, open })
      : h(Fleet, { fleet, filter, choose, open, ref2: made => { grid = made; } })), root);
}

function soon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw();
  });
}

addEventListener('hashchange', () => {
  draw();
  scrollTo(0, 0);
});
addEventListener('keydown', event => {
  const search = document.getElementById('search');
  if (event.key === '/' && search && event.target !== search) {
    event.preventDefault();
    search.focus();
  } else if (event.key === 'Escape') {
    if (route()) location.hash = '#/';
    else choose({ search: '', state: '', zone: '' });
  }
});

async function sight() {
  try {
    const answer = await fetch('api/sight');
    if (answer.ok) fleet.blind = (await answer.json()).blind;
  } catch (error) {
    // The stream of events shows that the controller does not answer.
  }
}

const chosen = localStorage.getItem('theme');
if (chosen) document.documentElement.dataset.theme = chosen;
draw();
sight();
setInterval(sight, 15_000);
follow(fleet, names => {
  if (grid && (names === null || filter.state || filter.search)) grid.show(shown(fleet, filter));
  else if (grid) grid.update(fleet.nodes, names);
  soon();
});

/** For measurements: how long the last frames of the grid took, in milliseconds. */
window.nodekeeperFrames = () => (grid ? grid.frames : []);
