// The repository's own corpus: tools of servers that do not exist, made up here. Between them they have every shape of
// schema and name that tests need. One file a server; each says what it is there for.
import { allotments } from './servers/allotments.mjs';
import { bareMinimum } from './servers/bare-minimum.mjs';
import { beekeeper } from './servers/beekeeper.mjs';
import { clinic } from './servers/clinic.mjs';
import { ferryDesk } from './servers/ferry-desk.mjs';
import { kitchen } from './servers/kitchen.mjs';
import { ledgerline } from './servers/ledgerline.mjs';
import { letterpress } from './servers/letterpress.mjs';
import { mapmaker } from './servers/mapmaker.mjs';
import { mootCourt } from './servers/moot-court.mjs';
import { nightBus } from './servers/night-bus.mjs';
import { observatory } from './servers/observatory.mjs';
import { oddNames } from './servers/odd-names.mjs';
import { parcelLocker } from './servers/parcel-locker.mjs';
import { puppetTheatre } from './servers/puppet-theatre.mjs';
import { quarry } from './servers/quarry.mjs';
import { queryDesk } from './servers/query-desk.mjs';
import { shipyard } from './servers/shipyard.mjs';
import { soundArchive } from './servers/sound-archive.mjs';
import { tidewatch } from './servers/tidewatch.mjs';
import { townHall } from './servers/town-hall.mjs';
import { weaver } from './servers/weaver.mjs';

/**
 * A fresh copy each time: as JSON, like an answer of a server, so that no test can change what another sees.
 *
 * @returns {{ id: string, server: string, description?: string, tools: any[] }[]}
 */
export function ownToolsets() {
  return JSON.parse(JSON.stringify(SERVERS));
}

/** @type {readonly object[]} */
const SERVERS = [
  allotments,
  bareMinimum,
  beekeeper,
  clinic,
  ferryDesk,
  kitchen,
  ledgerline,
  letterpress,
  mapmaker,
  mootCourt,
  nightBus,
  observatory,
  oddNames,
  parcelLocker,
  puppetTheatre,
  quarry,
  queryDesk,
  shipyard,
  soundArchive,
  tidewatch,
  townHall,
  weaver,
];
