import { useEffect, useState } from 'preact/hooks';
import { hostNow } from '../api/session-state.js';
import { time } from '../lib/format.js';

/** The time until something expires, by the host's clock. Screen readers do not read it every second: its title has the time. */
export function Countdown({ atMs }: { atMs: number }) {
  const [left, setLeft] = useState(atMs - hostNow());
  useEffect(() => {
    setLeft(atMs - hostNow());
    const timer = setInterval(() => setLeft(atMs - hostNow()), 1_000);
    return () => clearInterval(timer);
  }, [atMs]);
  const tone = left < 60_000 ? 'bad' : left < 300_000 ? 'wait' : 'calm';
  return (
    <time class={`num nowrap tone-${tone}`} dateTime={new Date(atMs).toISOString()} title={`Expires at ${time(atMs)}`}>
      {left <= 0 ? 'expired' : `${clock(left)} left`}
    </time>
  );
}

function clock(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  if (hours >= 2) return `${hours} h`;
  if (hours >= 1) return `1 h ${minutes % 60} min`;
  // Seconds are shown only if they matter: a running number distracts from the decision.
  return minutes >= 10 ? `${minutes} min` : `${minutes}:${String(seconds % 60).padStart(2, '0')} min`;
}
