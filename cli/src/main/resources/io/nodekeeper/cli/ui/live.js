// The stream of changes. The controller ends it now and then; the first event of the next one has the whole fleet. The browser
// connects again by itself, but not after a refusal, as while the cluster cannot say who may read.
import { node } from './states.js';

// Milliseconds without an event until the page says so, and between two attempts.
const PATIENCE = 8000;
const AGAIN = 5000;

/** Calls changed(names | null) after each event; null means everything. */
export function follow(fleet, changed) {
  let silent = 0;
  connect();

  function connect() {
    const events = new EventSource('api/events');
    listen(events);
    events.onerror = () => {
      // A stream that only ends is followed by the next one at once.
      silent = silent || setTimeout(() => {
        fleet.trouble = 'no connection to the controller; trying again';
        changed([]);
      }, PATIENCE);
      if (events.readyState === EventSource.CLOSED) setTimeout(connect, AGAIN);
    };
  }

  function listen(events) {
    events.addEventListener('fleet', event => {
      const data = JSON.parse(event.data);
      fleet.nodes = new Map(data.rows.map(row => [row[0], node(row)]));
      arrived(data);
      changed(null);
    });
    events.addEventListener('changes', event => {
      const data = JSON.parse(event.data);
      let fresh = data.gone.length > 0;
      data.gone.forEach(name => fleet.nodes.delete(name));
      for (const row of data.changed) {
        const before = fleet.nodes.get(row[0]);
        const now = node(row);
        fresh = fresh || !before || before.zone !== now.zone;
        fleet.nodes.set(row[0], now);
      }
      arrived(data);
      changed(fresh ? null : data.changed.map(row => row[0]));
    });
    events.addEventListener('trouble', event => {
      fleet.trouble = JSON.parse(event.data).text;
      changed([]);
    });
  }

  function arrived(data) {
    clearTimeout(silent);
    silent = 0;
    fleet.status = data.status;
    fleet.trouble = data.status.notWorking ? 'this controller does not work: ' + data.status.notWorking : '';
    fleet.samples.push({
      at: Date.parse(data.status.at) || Date.now(),
      age: (data.status.sight || {}).canaryAgeMs || 0,
      blind: Boolean((data.status.sight || {}).blindness),
    });
    // Ten minutes at one event a second.
    if (fleet.samples.length > 600) fleet.samples.shift();
  }
}
