// What the page knows of states and times. No text from the cluster is ever parsed as markup: the page sets it as text only.

/** Each state: its letter and its label, the worst first. Colour is never the only difference. */
export const STATES = {
  unknown: { letter: 'U', label: 'Unknown' },
  notReady: { letter: 'N', label: 'NotReady' },
  judged: { letter: 'J', label: 'grace is over' },
  duplicate: { letter: '2', label: 'two machines' },
  late: { letter: 'L', label: 'late' },
  damped: { letter: 'F', label: 'damped' },
  new: { letter: '?', label: 'never reported' },
  ready: { letter: '', label: 'Ready' },
};

export const ORDER = Object.keys(STATES);

/** A row of the fleet by names. */
export function node(row) {
  const [name, zone, state, reason, since] = row;
  return { name, zone, state: STATES[state] ? state : 'new', reason, since };
}

export function clock(time) {
  const text = new Date(time).toISOString();
  return text.slice(11, 19);
}

export function exact(time) {
  return new Date(time).toISOString().replace('T', ' ').replace('Z', ' UTC');
}

export function duration(millis) {
  const seconds = Math.max(0, Math.round(millis / 1000));
  if (millis < 1000) return Math.max(0, Math.round(millis)) + ' ms';
  if (seconds < 120) return seconds + ' s';
  if (seconds < 7200) return Math.floor(seconds / 60) + ' min';
  if (seconds < 172800) return Math.floor(seconds / 3600) + ' h';
  return Math.floor(seconds / 86400) + ' days';
}

/** A colour of the style sheet, for a canvas. */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}
