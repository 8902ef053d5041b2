// One node: why, in one sentence; its timeline; and the evidence.
import { h, Component } from './preact.js';
import { clock, exact } from './states.js';
import { words } from './strip.js';

const LANES = [
  ['state', 'Ready'], ['heartbeats', 'Heartbeats'], ['taints', 'Taints'], ['pods', 'Pods'], ['problems', 'Problems'],
  ['cordon', 'Cordon'],
];
const LEFT = 96;
const WIDTH = 1100;
const ROW = 34;

export class NodeView extends Component {
  constructor() {
    super();
    this.state = { story: null, error: '', pointer: null };
  }

  componentDidMount() {
    this.load();
    this.timer = setInterval(() => this.props.at || this.load(), 5000);
  }

  componentDidUpdate(before) {
    if (before.name !== this.props.name || before.at !== this.props.at) this.load();
  }

  componentWillUnmount() {
    clearInterval(this.timer);
  }

  async load() {
    const { name, at } = this.props;
    try {
      const answer = await fetch('api/nodes/' + encodeURIComponent(name) + (at ? '?at=' + encodeURIComponent(at) : ''));
      const text = await answer.text();
      if (name !== this.props.name || at !== this.props.at) return;
      if (answer.ok) this.setState({ story: JSON.parse(text), error: '' });
      else this.setState({ story: null, error: text });
    } catch (error) {
      this.setState({ error: 'The controller does not answer: ' + error.message });
    }
  }

  render({ name, at }, { story, error }) {
    if (!story) {
      return h('main', null, h('section', { class: 'panel' },
        h('h2', null, name), h('p', { role: 'status' }, error || 'loading ...')));
    }
    const [headline, ...next] = story.headline.split('\n');
    return h('main', null,
      h('section', { class: 'panel', id: 'why', 'aria-label': 'Why' },
        h('p', { class: 'headline' }, headline),
        next.map(line => h('div', { key: line, class: 'next' }, h('code', null, line))),
        story.notes.map(note => h('p', { key: note, class: 'dim' }, note)),
        error ? h('p', { class: 'dim' }, error) : null),
      h('section', { class: 'panel', 'aria-label': 'Timeline' },
        h('h2', null, 'Timeline'),
        this.timeline(story.timeline, at),
        h('div', { class: 'under mono', id: 'pointer' }, this.state.pointer
          || (at ? exact(Date.parse(at)) + ' is the requested time' : 'Move over the lanes; click for a link to that time.'))),
      h('div', { class: 'cols' },
        h('section', { class: 'panel', 'aria-label': 'What happened' },
          h('h2', null, story.decisions.length === 0 ? 'No decision about it is stored' : 'What happened, newest first'),
          h('ol', { class: 'story' }, story.decisions.map((decision, i) => h('li', {
            key: i, id: 'decision-' + i, class: at && decision.at === this.nearest(story, at) ? 'picked' : '',
          }, h('span', { class: 'mono dim' }, exact(Date.parse(decision.at))), h('span', { class: 'kind' }, decision.kind),
          h('p', null, decision.text), facts(decision.details))).reverse())),
        h('section', { class: 'panel', 'aria-label': 'State' }, h('h2', null, 'Now'), facts(story.node))));
  }

  /** The time of the decision that is nearest to the requested time. */
  nearest(story, at) {
    const wanted = Date.parse(at);
    return story.decisions.reduce((best, decision) =>
      best && Math.abs(Date.parse(best) - wanted) <= Math.abs(Date.parse(decision.at) - wanted) ? best : decision.at, '');
  }

  timeline(line, at) {
    const from = Date.parse(line.from);
    const to = Date.parse(line.to);
    const height = LANES.length * ROW + 30;
    const x = time => LEFT + (time - from) / Math.max(1, to - from) * (WIDTH - LEFT - 10);
    const span = (period, lane, kind) => h('rect', {
      key: kind + period.from, class: kind, x: x(Date.parse(period.from)), y: lane * ROW + 9,
      width: Math.max(2, x(Date.parse(period.to)) - x(Date.parse(period.from))), height: ROW - 16, rx: 3,
    }, h('title', null, period.text));
    const step = ticks(to - from);
    const times = [];
    for (let time = Math.ceil(from / step) * step; time < to; time += step) times.push(time);
    const place = event => {
      const box = event.currentTarget.getBoundingClientRect();
      const inside = (event.clientX - box.left) / box.width * WIDTH;
      return inside < LEFT ? null : from + (inside - LEFT) / (WIDTH - LEFT - 10) * (to - from);
    };
    return h('svg', {
      viewBox: '0 0 ' + WIDTH + ' ' + height, role: 'img', id: 'timeline',
      'aria-label': 'Timeline of this node; the list below has the same entries',
      onMouseMove: event => {
        const time = place(event);
        this.setState({ pointer: time === null ? null : this.tell(line, time) });
      },
      onMouseLeave: () => this.setState({ pointer: null }),
      onClick: event => {
        const time = place(event);
        if (time !== null) this.props.open(this.props.name, new Date(time).toISOString());
      },
    },
    LANES.map(([id, label], i) => [
      h('text', { key: id, x: 0, y: i * ROW + 22 }, label),
      h('line', { key: id + '-', class: 'rule', x1: LEFT, x2: WIDTH - 10, y1: i * ROW + ROW, y2: i * ROW + ROW }),
    ]),
    line.states.map(period => span(period, 0, 'f-' + period.state)),
    line.gaps.map(period => span(period, 1, 'f-gap')),
    line.blind.map(period => h('rect', {
      key: 'blind' + period.from, class: 'blind', x: x(Date.parse(period.from)), y: 0,
      width: Math.max(2, x(Date.parse(period.to)) - x(Date.parse(period.from))), height: LANES.length * ROW,
    }, h('title', null, 'The controller was blind: ' + period.text))),
    times.map(time => h('text', { key: time, class: 'axis', x: x(time), y: height - 8 }, clock(time))),
    line.marks.map(mark => h('circle', {
      key: mark.index, class: 'dot', cx: x(Date.parse(mark.at)), cy: LANES.findIndex(([id]) => id === mark.lane) * ROW + 18,
      r: 5,
    }, h('title', null, mark.kind + ': ' + mark.text))),
    at ? h('line', { class: 'cursor', x1: x(Date.parse(at)), x2: x(Date.parse(at)), y1: 0, y2: LANES.length * ROW }) : null);
  }

  /** What is under the pointer: the time, the nearest mark, and whether the controller was blind. */
  tell(line, time) {
    const near = line.marks.reduce((best, mark) => {
      const distance = Math.abs(Date.parse(mark.at) - time);
      return distance < best.distance ? { distance, mark } : best;
    }, { distance: (Date.parse(line.to) - Date.parse(line.from)) / 60, mark: null });
    const blind = line.blind.some(period => Date.parse(period.from) <= time && time <= Date.parse(period.to));
    return exact(time) + (blind ? ' · the controller was blind' : '')
      + (near.mark ? ' · ' + near.mark.kind + ': ' + near.mark.text : '');
  }
}

/** A round step that gives about eight labels. */
function ticks(span) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
  return 1000 * (steps.find(step => step * 1000 * 9 > span) || 604800);
}

/** Facts as rows; every value is text. */
function facts(object) {
  const entries = Object.entries(object || {});
  if (entries.length === 0) return null;
  return h('table', null, h('tbody', null, entries.map(([name, value]) =>
    h('tr', { key: name }, h('th', { scope: 'row' }, words(name)), h('td', null, lines(value))))));
}

function lines(value) {
  if (Array.isArray(value)) return value.map((item, i) => h('div', { key: i }, lines(item)));
  if (value !== null && typeof value === 'object') {
    return Object.entries(value).map(([name, inner]) => name + ' ' + String(inner)).join(', ');
  }
  return String(value);
}
