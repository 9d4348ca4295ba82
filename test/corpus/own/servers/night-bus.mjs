import { choice, DESTROYS, fields, flag, list, number, READS, text, time, tool, WRITES, whole } from '../build.mjs';

const LINE = text('Such as N7.', { pattern: '^N[0-9]{1,2}$' });
const STOP = text('Name on the sign.');

/** Messages, money and ends: names that a policy must notice, with every combination of hints. */
export const nightBus = {
  id: 'night-bus',
  server: 'Night bus control room',
  version: '12.0.0',
  tools: [
    tool('list_lines', 'Lists the lines that run tonight.', fields({}), { hints: READS }),
    tool('bus_position', 'Where a bus is now.', fields({ 'bus!': whole() }), {
      output: fields({ 'latitude!': number(), 'longitude!': number(), 'seen_at!': time() }),
      hints: READS,
    }),
    tool(
      'next_departures',
      'The next departures from a stop.',
      fields({ 'stop!': STOP, count: whole(undefined, { minimum: 1, maximum: 20, default: 5 }) }),
      {
        output: fields({ 'departures!': list(fields({ 'line!': text(), 'at!': time(), late_minutes: whole() })) }),
        hints: READS,
      },
    ),
    tool(
      'send_driver_message',
      'Sends a short message to the screen of a driver.',
      fields({ 'bus!': whole(), 'words!': text(undefined, { maxLength: 80 }) }),
      { hints: WRITES },
    ),
    tool(
      'broadcast_announcement',
      'Speaks an announcement at all stops of a line.',
      fields({
        'line!': LINE,
        'words!': text(undefined, { maxLength: 300 }),
        times: whole(undefined, { minimum: 1, maximum: 5, default: 1 }),
      }),
      { hints: { ...WRITES, openWorldHint: true } },
    ),
    tool(
      'email_lost_property_office',
      'Writes to the lost property office.',
      fields({ 'subject!': text(), 'body!': text() }),
    ),
    tool(
      'post_notice',
      'Posts a notice on the public page.',
      fields({ 'title!': text(), 'body!': text(), until: time() }),
    ),
    tool('cancel_departure', 'Cancels one departure.', fields({ 'line!': LINE, 'at!': time(), 'because!': text() }), {
      hints: DESTROYS,
    }),
    tool(
      'refund_ticket',
      'Pays a ticket back.',
      fields({ 'ticket!': text(), cents: whole(undefined, { minimum: 1, maximum: 5000 }) }),
    ),
    tool(
      'charge_card',
      'Takes money from a card.',
      fields({ 'card!': text('A reference, never the number.'), 'cents!': whole(undefined, { minimum: 1 }) }),
    ),
    tool('get_refund', 'Shows whether a ticket was paid back.', fields({ 'ticket!': text() }), { hints: READS }),
    tool('list_deleted_stops', 'Stops that are not served any more.', fields({ since: time() }), { hints: READS }),
    tool('remove_stop', 'Takes a stop off a line.', fields({ 'line!': LINE, 'stop!': STOP }), { hints: DESTROYS }),
    tool(
      'reroute_line',
      'Leads a line around a closed street.',
      fields({ 'line!': LINE, 'via!': list(STOP, undefined, { minItems: 1 }), until: time() }),
      { hints: { readOnlyHint: false } },
    ),
    tool('reset_signals', 'Resets the traffic lights to their own programme.', fields({ 'junction!': text() }), {
      hints: { destructiveHint: false },
    }),
    tool('publish_timetable', 'Publishes the new timetable.', fields({ 'valid_from!': time(), draft_only: flag() }), {
      hints: { ...WRITES, idempotentHint: true },
    }),
    tool(
      'read_mail_of_passengers',
      'Letters of passengers, newest first.',
      fields({ unread_only: flag(undefined, { default: true }) }),
      { hints: READS },
    ),
    tool('shutdown_line', 'Ends a line for the night.', fields({ 'line!': LINE }), { hints: DESTROYS }),
    tool(
      'order_replacement',
      'Orders a taxi in place of a bus.',
      fields({ 'stop!': STOP, 'people!': whole(undefined, { minimum: 1, maximum: 8 }) }),
    ),
    tool(
      'grant_free_ride',
      'Lets somebody ride for free tonight.',
      fields({ 'name!': text(), reason: choice(['stranded', 'helper', 'mistake']) }),
    ),
  ],
};
