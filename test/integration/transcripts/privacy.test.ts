import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from '@nats-io/transport-node';
import { findFreePort } from '../../../libs/product/servers/ports.ts';
import { startServiceProcess, type ServiceProcess } from '../../../libs/product/servers/service-process.ts';
import { waitFor } from '#libs/product/testing';
import { row, startTranscriptFixture, type TranscriptFixture } from './fixture.ts';

/** One word for each reason to exclude a row. Each word is spoken, and is also the name of a person. */
const planted = {
  before: 'zebrafinch',
  after: 'quokkaberry',
  crossesStart: 'mulberrylynx',
  crossesEnd: 'ostrichplum',
  malformed: 'walnutheron',
  ambiguous: 'papayabadger',
  mixed: 'cedarwombat',
  garbage: 'juniperotter',
  cut: 'hazelpuffin',
  refused: 'saffronibis',
};
const accepted = 'marigoldspoken';

let fixture: TranscriptFixture;
let service: ServiceProcess;
let folder: string;
let seen: string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'privacy-'));
  fixture = await startTranscriptFixture(import.meta.url, {}, { runsImporter: false });
  seen = await listen(fixture);
  // Runs the service as a separate process at the most verbose log level, so that all output is in one file.
  const env = { ...fixture.settings, LOG_LEVEL: 'trace', METRICS_PORT: String(await findFreePort()) };
  service = await startServiceProcess({
    repoDir: process.cwd(),
    name: 'transcripts',
    logFile: join(folder, 'transcripts.log'),
    env,
  });
  await waitFor(async () => (await service.readReadiness()) === undefined, { what: 'the transcripts service' });
});
afterAll(async () => {
  await service.stop();
  await fixture.stop();
  await rm(folder, { recursive: true, force: true });
});

/**
 * Collects every message on the subjects of this installation: jobs and events published to streams, calls, and
 * deliveries.
 */
async function listen({ env }: TranscriptFixture): Promise<string[]> {
  const messages: string[] = [];
  const { host, username, password } = new URL(env.settings['NATS_URL'] ?? '');
  const connection = await connect({ servers: host, user: username, pass: password });
  env.onStop(() => connection.close());
  for (const name of ['jobs', 'events', 'webhooks', 'transcripts', 'conversations', 'directory']) {
    connection.subscribe(`${env.settings['NATS_SUBJECT_PREFIX']}.${name}.>`, {
      callback: (_error, message) => void messages.push(`${message.subject} ${message.string()}`),
    });
  }
  await connection.flush();
  return messages;
}

const minute = 60_000;
const say = (start: unknown, end: unknown, word: string): unknown =>
  row(start, end, `I said ${word} aloud`, `cpi-${word}`, `Name ${word}`);

describe('excluded speech (rules/transcripts#excluded-speech: excluded speech is never kept; architecture#a-recorded-meeting)', () => {
  it('stores excluded speech in no table, message, job, error or log', async () => {
    const rows = [
      say(0, 1_000, planted.before),
      say(5 * minute, 6 * minute, planted.after),
      say(minute - 1, minute + 1, planted.crossesStart),
      say(5 * minute - 1, 5 * minute + 1, planted.crossesEnd),
      say('soon', 2 * minute, planted.malformed),
      say(-1, 2 * minute, planted.ambiguous),
      say(2 * minute, 2 * minute + 1_000, accepted),
    ];
    const good = await fixture.meet({ artifact: { rows } });
    const mixed = await fixture.meet({
      artifact: {
        rows: [
          say(2 * minute, 3 * minute, planted.mixed),
          say('2030-01-15T10:03:00Z', '2030-01-15T10:03:01Z', planted.mixed),
        ],
      },
    });
    const garbage = await fixture.meet({ artifact: { bytes: `[{"sentence":"${planted.garbage}",]` } });
    const plain = await fixture.meet({ artifact: { bytes: `${planted.garbage} said "${planted.garbage}` } });
    await fixture.jobs.waitForError(garbage.id, /ends inside the list/);
    await fixture.jobs.waitForState(plain.id, 'dead');
    await fixture.becomes(mixed.id, 'transcript_window_empty');
    await fixture.becomes(good.id, 'imported');
    fixture.provider.addFault('download', { kind: 'cut', afterBytes: 400 });
    const cut = await fixture.meet({
      artifact: { rows: [say(0, 1_000, planted.cut), say(0, 1_000, planted.cut), say(0, 1_000, planted.cut)] },
    });
    await fixture.jobs.waitForError(cut.id, /the exchange failed/);
    fixture.provider.clearFaults();
    await fixture.env.sql(`create function transcripts.refuse() returns trigger language plpgsql as $$ begin
      if position('${planted.refused}' in new.text) > 0 then raise exception 'refused: %', new.text; end if; return new; end $$`);
    await fixture.env.sql(
      'create trigger refuse before insert on transcripts.transcript_rows for each row execute function transcripts.refuse()',
    );
    const refused = await fixture.meet({ artifact: { rows: [say(2 * minute, 3 * minute, planted.refused)] } });

    await fixture.becomes(refused.id, 'install_refused_or_incomplete');
    await fixture.jobs.waitForError(refused.id);
    // The failed job would be retried within seconds and succeed, because its write is no longer rejected.
    await fixture.env.sql(`update transcripts.jobs set run_at = now() + interval '1 hour' where state = 'queued'`);
    await fixture.env.sql('drop function transcripts.refuse() cascade');

    const tables = await fixture.env.sql<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    expect(tables.map((table) => table.name)).toEqual(
      expect.arrayContaining(['transcripts.jobs', 'transcripts.outbox', 'conversations.jobs']),
    );
    const log = readFileSync(join(folder, 'transcripts.log'), 'utf8');
    expect(log).toContain('transcript import finished');
    expect(log).toContain('job is dead');
    expect(seen.some((message) => message.includes('jobs.transcripts.transcript-import'))).toBe(true);
    for (const word of Object.values(planted)) {
      for (const { name } of tables) {
        expect([
          word,
          name,
          await fixture.env.sql(`select 1 from ${name} t where position($1 in t::text) > 0`, [word]),
        ]).toEqual([word, name, []]);
      }
      expect([word, seen.filter((message) => message.includes(word))]).toEqual([word, []]);
      expect([word, log.includes(word)]).toEqual([word, false]);
    }
    const found = await fixture.env.sql('select 1 from transcripts.transcript_rows where position($1 in text) > 0', [
      accepted,
    ]);
    expect(found).toHaveLength(1);
    expect(log).not.toContain(accepted);
    expect(
      await fixture.env.sql(`select 1 from transcripts.jobs j where position($1 in j::text) > 0`, [accepted]),
    ).toEqual([]);
  });
});
