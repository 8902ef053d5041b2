// The stream of changes. The browser connects again by itself; the first event then has the whole fleet.
import { node } from './states.js';

/** Calls changed(names | null) after each event; null means everything. */
export function follow(fleet, changed) {
  const events = new EventSource('api/events');
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
  events.onerror = () => {
    fleet.trouble = 'no connection to the controller; trying again';
    changed([]);
  };

  function arrived(data) {
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
