/** Waits until a platform is idle, and then reads its state. */
import { waitFor } from '../../libs/product/testing/wait-for.ts';
import type { Facts } from './checker/check-history.ts';
import type { ChaosPlatform } from './platform.ts';
import type { ChaosServers } from './servers.ts';

const workingServices = ['directory', 'conversations', 'media', 'transcripts', 'agents'] as const;
/** Longer than the lease of a killed worker's job plus the growing delays between attempts of a failed job. */
const stuckMs = 180_000;
const longestMs = 3_600_000;
/** Outcomes of webhooks that are still being processed. */
const openOutcomes = `('pending', 'answering')`;

/**
 * Resolves when all jobs are finished and all messages are sent. Resolves also when nothing changes any more;
 * unfinished work is then listed in the facts.
 */
export async function waitForRest(chaos: ChaosPlatform, servers: ChaosServers): Promise<void> {
  let [fewest, until] = [Infinity, Infinity];
  const isOver = async (): Promise<boolean> => {
    const open = (await listOpen(chaos, servers)).length;
    if (open < fewest) [fewest, until] = [open, performance.now() + stuckMs];
    return open === 0 || performance.now() > until;
  };
  await waitFor(isOver, { timeoutMs: longestMs, intervalMs: 1_000, what: 'rest' });
}

/** Returns one line per unfinished job that is due, and one per unsent message. */
async function listOpen(chaos: ChaosPlatform, servers: ChaosServers): Promise<string[]> {
  const { sql } = chaos;
  const parts = workingServices.flatMap((service) => [
    `select format('${service}: %s %s, attempt %s: %s', type, state, attempts, error) as line from ${service}.jobs where state in ('queued', 'running') and run_at < now() + interval '10 minutes'`,
    `select format('${service}: outbox %s', subject) from ${service}.outbox`,
  ]);
  const tables = await sql<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables where table_name = 'feed_outbox'`,
  );
  parts.push(...tables.map(({ name }) => `select format('${name}: %s of %s', type, subject_id) from ${name}`));
  for (const service of ['conversations', 'agents'])
    parts.push(
      `select format('${service}: webhook %s is %s', id, outcome) from ${service}.webhook_receipts where outcome in ${openOutcomes}`,
    );
  const lines = (await sql<{ line: string }>(parts.join(' union all '))).map(({ line }) => line);
  const webhooks = await servers.countWebhooks();
  const waiting = webhooks === 0 ? [] : [`stream WEBHOOKS: ${webhooks} messages`];
  return [...lines, ...waiting, ...(await compareFeed(chaos)), ...(await compareDeliveries(chaos))];
}

export async function collectFacts(chaos: ChaosPlatform, servers: ChaosServers): Promise<Facts> {
  const { sql, telegram } = chaos;
  const keys = async (text: string): Promise<string[]> => (await sql<{ key: string }>(text)).map(({ key }) => key);
  const updates = await keys(`select update_id::text as key from agents.webhook_receipts where update_id is not null`);
  return {
    effects: {
      booking: await keys(
        `select config #>> '{booking,uid}' as key from conversations.all_conversations where config #>> '{booking,uid}' like 'booking-%'`,
      ),
      seat: await listSeats(chaos),
      occurrence: await keys(
        `select config #>> '{booking,uid}' as key from conversations.conversations where config #>> '{booking,uid}' ~ '^series-\\d+-[02]$'`,
      ),
      update: [...updates, ...listRepeatedReplies(telegram.visible.map(({ text }) => text))],
      turn: await keys(
        `select body as key from agents.messages where note_type = 'chat_visitor' and body like 'question %'`,
      ),
      person: await keys(`select name as key from directory.people where name like 'Made %'`),
      import: await keys(`select conversation_id::text as key from transcripts.transcript_rows`),
    },
    leftovers: [
      ...(await listOpen(chaos, servers)),
      ...(await keys(
        workingServices
          .map(
            (service) =>
              `select format('${service}: %s died without a reason', type) as key from ${service}.jobs where state = 'dead' and error is null`,
          )
          .join(' union all '),
      )),
      ...(await listRemaining(chaos)),
      ...(await listFiles(chaos)),
    ],
  };
}

/**
 * Returns the guests with a seat, one entry per conversation. A guest in a conversation of another booking is listed
 * together with that booking.
 */
async function listSeats({ sql }: ChaosPlatform): Promise<string[]> {
  const rows = await sql<{ name: string; uid: string }>(
    `select p.name, c.config #>> '{booking,uid}' as uid from conversations.conversations c join directory.people p on p.id = any(c.participant_ids)
     where p.name ~ '^Guest seats-\\d+ (stays|moves)$'`,
  );
  return rows.map(({ name, uid }) => {
    const own = /^Guest (seats-\d+) /.exec(name)?.[1] ?? '';
    return uid === own || uid === `${own}-moved` ? name : `${name} in ${uid}`;
  });
}

/** Returns what an acknowledged cancellation should have removed: a guest with a seat, or an occurrence of a series. */
async function listRemaining({ sql }: ChaosPlatform): Promise<string[]> {
  const rows = await sql<{ line: string }>(
    `select format('%s left and is in conversation %s', p.name, c.id) as line
     from conversations.conversations c join directory.people p on p.id = any(c.participant_ids)
     where p.name like 'Guest seats-% leaves' and exists (select from conversations.webhook_receipts r where r.trigger_event = 'BOOKING_CANCELLED'
       and position(convert_to('"' || p.name || '"', 'UTF8') in r.body) > 0)
     union all
     select format('occurrence %s was cancelled and is conversation %s', c.config #>> '{booking,uid}', c.id) from conversations.conversations c
     where c.config #>> '{booking,uid}' ~ '^series-\\d+-1$' and exists (select from conversations.webhook_receipts r
       where r.trigger_event = 'BOOKING_CANCELLED' and r.identifiers @> array['uid:' || (c.config #>> '{booking,uid}')])`,
  );
  return rows.map(({ line }) => line);
}

/** Returns the numbers of updates that were answered more than once in a chat, one entry per extra answer. */
function listRepeatedReplies(texts: readonly string[]): string[] {
  const seen = new Set<string>();
  return texts.flatMap((text) => {
    const [, key] = /^You said: update (\d+)$/.exec(text) ?? [];
    if (key === undefined) return [];
    if (seen.has(key)) return [key];
    seen.add(key);
    return [];
  });
}

/** Returns objects without a record and records without an object, after the platform's cleanup has had time to run. */
async function listFiles({ platform }: ChaosPlatform): Promise<string[]> {
  const { code, stdout, stderr } = await platform.cli('media', 'orphans', '--min-age-hours', '0', '--json');
  if (code !== 0) return [`media orphans: ${stderr}`];
  const found = JSON.parse(stdout) as { orphans: { key: string }[]; missing: { key: string }[] };
  return [
    ...found.orphans.map(({ key }) => `orphan ${key}`),
    ...found.missing.map(({ key }) => `missing object ${key}`),
  ];
}

/**
 * Compares the feed with the recorded commits: it must contain the same changes of the same conversations, each once.
 */
async function compareFeed({ sql }: ChaosPlatform): Promise<string[]> {
  const rows = await sql<{ id: number; committed: number; emitted: number }>(
    `select coalesce(c.id, f.id)::integer as id, coalesce(c.count, 0)::integer as committed, coalesce(f.count, 0)::integer as emitted
     from (select id, count(*) from conversations.committed group by id) c
     full join (select subject_id as id, count(*) from events.feed where type = 'conversation.room_updated' group by subject_id) f on f.id = c.id
     where c.count is distinct from f.count`,
  );
  return rows.map(
    ({ id, committed, emitted }) =>
      `the feed tells of ${emitted} changes of the room of ${id}, of which there were ${committed}`,
  );
}

/** Compares deliveries with the feed: every subscribed event is received at least once, and no other. */
async function compareDeliveries({ sql, receiver }: ChaosPlatform): Promise<string[]> {
  const events = await sql<{ id: string; type: string; expected: boolean }>(
    `select 'evt_' || replace(f.id::text, '-', '') as id, f.type, f.type = any(e.types) and f.occurred_at > e.created_at as expected
     from events.feed f, events.webhook_endpoints e`,
  );
  const [emitted, arrived] = [new Set(events.map(({ id }) => id)), new Set(receiver.received.map(({ id }) => id))];
  return [
    ...events
      .filter(({ id, expected }) => expected && !arrived.has(id))
      .map(({ id, type }) => `${type} ${id} was not delivered`),
    ...[...arrived]
      .filter((id) => !emitted.has(id))
      .map((id) => `${id} was delivered, of which the feed does not tell`),
  ];
}
