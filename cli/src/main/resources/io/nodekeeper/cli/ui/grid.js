// The fleet as a grid on one canvas: a cell per node, by zone. Thousands of elements would be slow; one canvas is not, and
// a change draws only its own cells.
import { STATES, colour } from './states.js';

const HEAD = 24;
const GAP = 12;
/** Made once: a comparison that makes its own takes many times longer. */
const NAMES = new Intl.Collator('en', { numeric: true });

export class Grid {
  /** say(node | null) is called for the node under the cursor, open(name) for the chosen one. */
  constructor(canvas, say, open) {
    this.canvas = canvas;
    this.say = say;
    this.open = open;
    this.cells = [];
    this.byName = new Map();
    this.cursor = -1;
    this.dirty = new Set();
    this.all = false;
    this.waiting = false;
    this.frames = [];
    canvas.addEventListener('mousemove', event => this.point(this.at(event)));
    canvas.addEventListener('mouseleave', () => this.point(-1));
    canvas.addEventListener('click', event => {
      const found = this.at(event);
      if (found >= 0) open(this.cells[found].node.name);
    });
    canvas.addEventListener('keydown', event => this.key(event));
    new ResizeObserver(() => this.show(this.nodes || [])).observe(canvas.parentElement);
  }

  /** Lays out the nodes, which are already filtered. */
  show(nodes) {
    this.nodes = nodes;
    const width = this.canvas.parentElement.clientWidth;
    if (width === 0) return;
    const zones = new Map();
    for (const node of nodes) {
      if (!zones.has(node.zone)) zones.set(node.zone, []);
      zones.get(node.zone).push(node);
    }
    const names = [...zones.keys()].sort();
    const height = Math.max(300, window.innerHeight * 0.62);
    let size = 28;
    while (size > 7 && this.rows(names, zones, width, size) > height) size--;
    this.size = size;
    const across = Math.max(1, Math.floor(width / size));
    const chosen = this.cells[this.cursor]?.node.name;
    this.cells = [];
    this.heads = [];
    this.byName.clear();
    let y = 0;
    for (const name of names) {
      const members = zones.get(name).sort((a, b) => NAMES.compare(a.name, b.name));
      this.heads.push({ text: (name || 'no zone') + '  ·  ' + members.length, y });
      y += HEAD;
      members.forEach((node, i) => {
        this.byName.set(node.name, this.cells.length);
        this.cells.push({ node, x: (i % across) * size, y: y + Math.floor(i / across) * size });
      });
      y += Math.ceil(members.length / across) * size + GAP;
    }
    this.cursor = chosen === undefined ? -1 : this.byName.get(chosen) ?? -1;
    const scale = window.devicePixelRatio || 1;
    this.height = Math.max(y, 60);
    this.canvas.width = width * scale;
    this.canvas.height = this.height * scale;
    // The element's own style, not an attribute: the content security policy allows only the former.
    this.canvas.style.height = this.height + 'px';
    this.width = width;
    this.scale = scale;
    this.redraw();
  }

  rows(names, zones, width, size) {
    const across = Math.max(1, Math.floor(width / size));
    return names.reduce((sum, name) => sum + HEAD + GAP + Math.ceil(zones.get(name).length / across) * size, 0);
  }

  redraw() {
    this.all = true;
    this.soon();
  }

  /** Draws the nodes that changed. */
  update(fleet, names) {
    for (const name of names) {
      const index = this.byName.get(name);
      if (index !== undefined) {
        this.cells[index].node = fleet.get(name);
        this.dirty.add(index);
      }
    }
    this.soon();
  }

  soon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const began = performance.now();
      this.draw();
      this.frames.push(performance.now() - began);
      if (this.frames.length > 300) this.frames.shift();
    });
  }

  draw() {
    const context = this.canvas.getContext('2d');
    context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    const colours = {};
    for (const state in STATES) colours[state] = colour(state);
    const look = { colours, ink: colour('cell-ink'), panel: colour('panel'), hit: colour('hit') };
    const letters = 'bold ' + Math.round(this.size * 0.66) + 'px system-ui, "DejaVu Sans", sans-serif';
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    if (this.all) {
      this.all = false;
      context.clearRect(0, 0, this.width, this.height);
      context.textAlign = 'left';
      context.fillStyle = colour('dim');
      context.font = '14px system-ui, "DejaVu Sans", sans-serif';
      for (const head of this.heads) context.fillText(head.text, 0, head.y + HEAD / 2);
      context.textAlign = 'center';
      context.font = letters;
      this.cells.forEach((cell, i) => this.cell(context, look, cell, i));
    } else {
      context.font = letters;
      this.dirty.forEach(i => this.cells[i] && this.cell(context, look, this.cells[i], i));
    }
    this.dirty.clear();
  }

  cell(context, look, cell, index) {
    const size = this.size;
    const inner = size - (size > 10 ? 2 : 1);
    const state = cell.node.state;
    context.fillStyle = look.panel;
    context.fillRect(cell.x, cell.y, size, size);
    context.fillStyle = look.colours[state];
    if (state === 'ready') {
      // A healthy node is smaller than one in trouble, so that the shape differs where a letter does not fit.
      const less = Math.max(1, Math.round(inner * 0.12));
      context.fillRect(cell.x + less, cell.y + less, inner - 2 * less, inner - 2 * less);
    } else {
      context.fillRect(cell.x, cell.y, inner, inner);
      if (size >= 9) {
        context.fillStyle = look.ink;
        context.fillText(STATES[state].letter, cell.x + inner / 2, cell.y + inner / 2 + 0.5);
      }
    }
    if (index === this.cursor) {
      context.strokeStyle = look.hit;
      context.lineWidth = 2;
      context.strokeRect(cell.x + 1, cell.y + 1, inner - 2, inner - 2);
    }
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    return this.cells.findIndex(
      cell => x >= cell.x && x < cell.x + this.size && y >= cell.y && y < cell.y + this.size);
  }

  point(index) {
    if (index === this.cursor) return;
    this.dirty.add(this.cursor);
    this.dirty.add(index);
    this.cursor = index;
    this.say(index < 0 ? null : this.cells[index].node);
    this.soon();
  }

  key(event) {
    const across = Math.max(1, Math.floor(this.width / this.size));
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across };
    if (event.key in steps && this.cells.length > 0) {
      event.preventDefault();
      const next = this.cursor < 0 ? 0 : this.cursor + steps[event.key];
      this.point(Math.min(this.cells.length - 1, Math.max(0, next)));
    } else if (event.key === 'Home' || event.key === 'End') {
      event.preventDefault();
      this.point(event.key === 'Home' ? 0 : this.cells.length - 1);
    } else if (event.key === 'Enter' && this.cursor >= 0) {
      this.open(this.cells[this.cursor].node.name);
    }
  }
}
